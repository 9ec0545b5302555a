/** The rate limit of one endpoint. */
export interface Limit {
  /** Calls per second. */
  readonly rate: number;
  /** Calls that a full bucket takes at once. */
  readonly burst: number;
}

/** The bucket of one endpoint over time; full at the start. Calls must come in the order of time. */
export class RateBucket {
  readonly #periodSeconds: number;
  readonly #burst: number;
  /** When the bucket is full again. */
  #fullAt = 0;

  constructor({ rate, burst }: Limit) {
    this.#periodSeconds = 1 / rate;
    this.#burst = Math.max(1, burst);
  }

  /**
   * Takes a token.
   *
   * @returns the time at which the call may go: `now` or later
   */
  take(now: number): number {
    const goes = Math.max(now, this.#fullAt - (this.#burst - 1) * this.#periodSeconds);
    this.#fullAt = Math.max(this.#fullAt, goes) + this.#periodSeconds;
    return goes;
  }
}
