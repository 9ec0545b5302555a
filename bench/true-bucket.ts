/**
 * The service's bucket: refills continuously, holds up to `burst`; a refused call costs nothing.
 */
export class TrueBucket {
  accepted = 0;
  refused = 0;
  #tokens: number;
  #at = 0;

  constructor(
    readonly rate: number,
    readonly burst: number,
    tokens = burst,
  ) {
    this.#tokens = tokens;
  }

  take(now: number): boolean {
    const passed = Math.max(0, now - this.#at);
    this.#tokens = Math.min(this.burst, this.#tokens + (passed * this.rate) / 1000);
    this.#at = Math.max(now, this.#at);
    const got = this.#tokens >= 1 - 1e-9;
    if (got) this.#tokens -= 1;
    if (got) this.accepted += 1;
    else this.refused += 1;
    return got;
  }
}
