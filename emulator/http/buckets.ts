import type { EmulatorClock } from "../clock.js";
import { limitOf, type PlanName } from "./rates.js";

interface Bucket {
  tokens: number;
  at: number;
}

interface BucketOptions {
  readonly plan: PlanName;
  readonly burst?: number | undefined;
  readonly clock: EmulatorClock;
}

/** Less than a token by rounding only is a token. */
const tolerance = 1e-9;

/** One token bucket for each method and path template; all callers share them (specification §8.1). */
export class Buckets {
  readonly #options: BucketOptions;
  readonly #buckets = new Map<string, Bucket>();

  constructor(options: BucketOptions) {
    this.#options = options;
  }

  /**
   * Takes a token.
   *
   * @param refusedCosts whether a refused call sets the refill back
   * @returns milliseconds until there is a token; 0: it was taken
   */
  take(endpoint: string, refusedCosts: boolean): number {
    const { plan, burst, clock } = this.#options;
    const limit = limitOf(plan, endpoint, burst);
    if (!limit) return 0;
    const now = clock.now();
    const bucket = this.#buckets.get(endpoint) ?? { tokens: limit.burst, at: now };
    const refilled = bucket.tokens + (Math.max(0, now - bucket.at) * limit.rate) / 1000;
    const tokens = Math.min(limit.burst, refilled);
    const isThere = tokens >= 1 - tolerance;
    const left = isThere || refusedCosts ? Math.max(0, tokens - 1) : tokens;
    this.#buckets.set(endpoint, { tokens: left, at: now });
    return isThere ? 0 : ((1 - left) / limit.rate) * 1000;
  }

  /** Fills every bucket. */
  reset(): void {
    this.#buckets.clear();
  }
}
