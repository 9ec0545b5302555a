/** What a caller is told about its wait. */
export interface WaitNews {
  /** Calls that wait on the endpoint. */
  readonly queued: number;
  /** Time left for this caller, in milliseconds. */
  readonly waitMs: number;
}

/** A call in a queue. */
export interface Queued {
  /** Lower goes first. */
  readonly number: number;
  /** When it was last announced, in milliseconds. */
  announcedAt: number;
  /** Tells it in the asynchronous context of the caller, so that the listener knows who waits. */
  readonly announce: (news: WaitNews) => void;
}

/** The calls that wait on one endpoint, the next one first, and when each was last told so. */
export class WaitingCalls<T extends Queued> {
  readonly #shortMs: number;
  readonly #everyMs: number;
  readonly #calls: T[] = [];

  /**
   * @param shortMs shorter waits are not announced
   * @param everyMs nobody is told more often than this
   */
  constructor(shortMs: number, everyMs: number) {
    this.#shortMs = shortMs;
    this.#everyMs = everyMs;
  }

  get first(): T | undefined {
    return this.#calls[0];
  }

  join(call: T): void {
    const place = this.#calls.findLastIndex(({ number }) => number < call.number) + 1;
    this.#calls.splice(place, 0, call);
  }

  leave(call: T): void {
    const place = this.#calls.indexOf(call);
    if (place >= 0) this.#calls.splice(place, 1);
  }

  /** Removes all and gives them back. */
  clear(): readonly T[] {
    return this.#calls.splice(0);
  }

  /** Tells everyone who still has to wait for long and was not told lately. */
  announce(now: number, firstMs: number, periodMs: number): void {
    const queued = this.#calls.length;
    for (const [place, call] of this.#calls.entries()) {
      const waitMs = firstMs + place * periodMs;
      if (waitMs <= this.#shortMs || now - call.announcedAt < this.#everyMs) continue;
      call.announcedAt = now;
      call.announce({ queued, waitMs });
    }
  }
}
