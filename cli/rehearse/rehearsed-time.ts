/** Something that is due at a moment in rehearsed time. */
interface Due {
  readonly at: number;
  readonly happen: () => void;
}

/**
 * How long nothing must happen before time jumps, in milliseconds: initial, minimum, and maximum.
 */
const quiet = { first: 80, least: 25, most: 400 };

/** The quiet time as a multiple of the usual pause between an answer and the next call. */
const margin = 4;

/** Weight of older pauses in the usual pause. */
const memory = 0.8;

/**
 * Time as a run would see it at the real service. It passes normally while the run computes, and
 * jumps as soon as the run only waits: for the rate of an endpoint, or for an answer. So hours take
 * seconds, and everything happens in the real order.
 */
export class RehearsedTime {
  readonly #due: Due[] = [];
  #lead = 0;
  #lastAt: number;
  #answeredAt: number | undefined;
  #quietMs = quiet.first;
  #timer: NodeJS.Timeout | undefined;
  #busy = 0;

  /**
   * @param slots steps that the engine runs in parallel: when that many calls wait, nothing else
   * can happen
   * @param clock milliseconds, monotonic
   */
  constructor(
    private readonly slots: number,
    private readonly clock: () => number = () => performance.now(),
  ) {
    this.#lastAt = clock();
  }

  /** Milliseconds of the rehearsed time. */
  now(): number {
    return this.clock() + this.#lead;
  }

  /** Reports that the run has made a call, so it is awake. */
  woken(): void {
    const now = this.clock();
    if (this.#answeredAt !== undefined) {
      const pause = now - this.#answeredAt;
      this.#answeredAt = undefined;
      const usual = Math.max(pause * margin, this.#quietMs * memory);
      this.#quietMs = Math.min(quiet.most, Math.max(quiet.least, usual));
    }
    this.#lastAt = now;
  }

  /** Reports that the run has got an answer and goes on. */
  answered(): void {
    this.#lastAt = this.clock();
    this.#answeredAt = this.#lastAt;
  }

  /** Settles at a moment in rehearsed time, after everything that is due before. */
  until(at: number): Promise<void> {
    return new Promise((happen) => {
      const place = this.#due.findLastIndex((other) => other.at <= at) + 1;
      this.#due.splice(place, 0, { at, happen });
      this.#plan();
    });
  }

  /** Does work that takes real time: time does not jump meanwhile. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#busy += 1;
    try {
      return await work();
    } finally {
      this.#busy -= 1;
      this.#lastAt = this.clock();
      this.#plan();
    }
  }

  /** Ends all waiting: everything due happens now. */
  close(): void {
    clearTimeout(this.#timer);
    for (const { happen } of this.#due.splice(0)) happen();
  }

  #plan(): void {
    clearTimeout(this.#timer);
    const [next] = this.#due;
    if (!next || this.#busy > 0) return;
    const isFull = this.#due.length >= this.slots;
    const restMs = isFull ? 0 : this.#lastAt + this.#quietMs - this.clock();
    const waitMs = Math.min(restMs, next.at - this.now());
    if (waitMs > 0) this.#timer = setTimeout(() => this.#plan(), Math.ceil(waitMs));
    // In a separate turn of the event loop, so that calls that arrive together are seen together.
    else this.#timer = setTimeout(() => this.#happen(), 0);
  }

  #happen(): void {
    const next = this.#busy > 0 ? undefined : this.#due.shift();
    if (!next) return;
    // Since the last event the run has only waited: that time is subtracted again.
    const reached = Math.max(next.at, this.#lastAt + this.#lead);
    this.#lastAt = this.clock();
    this.#lead = reached - this.#lastAt;
    next.happen();
    this.#plan();
  }
}
