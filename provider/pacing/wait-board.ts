import { AsyncResource } from "node:async_hooks";

/** What a caller is told about its wait. */
export interface WaitNews {
  /** Calls that wait on the endpoint. */
  readonly queued: number;
  /** Time left for this caller, in milliseconds. */
  readonly waitMs: number;
}

export interface Waiter {
  readonly turn: number;
  readonly number: number;
  readonly tell: (news: WaitNews) => void;
  toldAt: number;
}

const shortMs = 2_000;
const everyMs = 10_000;

/** Who waits on one endpoint, in which order, and who was told when. */
export class WaitBoard {
  readonly #waiters = new Set<Waiter>();
  #arrivals = 0;

  get size(): number {
    return this.#waiters.size;
  }

  /** @param tell called in the caller's own asynchronous context, so that it knows who waits */
  join(turn: number, tell: (news: WaitNews) => void): Waiter {
    const waiter: Waiter = {
      turn,
      number: this.#arrivals++,
      tell: AsyncResource.bind(tell),
      toldAt: Number.NEGATIVE_INFINITY,
    };
    this.#waiters.add(waiter);
    return waiter;
  }

  leave(waiter: Waiter): void {
    this.#waiters.delete(waiter);
  }

  /** Tells everyone who still has to wait for long and was not told lately. */
  announce(now: number, headMs: number, periodMs: number): void {
    const due = ({ toldAt }: Waiter): boolean => now - toldAt >= everyMs;
    if (![...this.#waiters].some(due)) return;
    const order = [...this.#waiters].sort((a, b) => a.turn - b.turn || a.number - b.number);
    for (const [place, waiter] of order.entries()) {
      const waitMs = headMs + place * periodMs;
      if (waitMs <= shortMs || !due(waiter)) continue;
      waiter.toldAt = now;
      waiter.tell({ queued: order.length, waitMs });
    }
  }
}
