import type { EndpointLimit } from "./plan-rates.js";

/** The limits that calls to an endpoint keep to. */
export interface RateLimit {
  /** Time to refill one token, in milliseconds. 0 if the rate is unknown or has no effect. */
  readonly periodMs: number;
  /** Number of calls that may be sent at once, at least 1. */
  readonly burst: number;
}

/**
 * One endpoint's token bucket, as plain JSON for every process that shares it. A token is
 * there when `dueMs` is 0 or less; taking it adds a period. `endpoint-queue.ts` decides: order, pauses
 * after a 429, and calls in progress count, too. A duration stays valid if a clock is set.
 */
export interface Bucket {
  /** The time of the store (memory, file, or Redis), in milliseconds. */
  readonly at: number;
  /**
   * Time from then until the next call may be sent, in milliseconds. Negative if calls were saved
   * up: one for each further period.
   */
  readonly dueMs: number;
}

/**
 * The clocks of two machines differ slightly in speed: 500 ppm, the maximum that NTP corrects (RFC
 * 5905 §11.3).
 */
const driftPart = 1.0005;

/**
 * A call may take this much less time to the service than the one before it, and would be refused
 * if it arrived too early.
 */
const jitterMs = 20;

/**
 * Returns the part of an endpoint's limit that may be used, a fraction of its rate and burst, but at
 * least one call.
 */
export const shareLimit = ({ rate, burst }: EndpointLimit, share: number): RateLimit => ({
  periodMs: (1000 / (rate * share)) * driftPart,
  burst: Math.max(1, Math.floor(burst * share)),
});

/** The least `dueMs` of a bucket: that of a full one. */
const fullMs = ({ periodMs, burst }: RateLimit): number => (1 - burst) * periodMs;

export const fullBucket = (at: number, limit: RateLimit): Bucket => ({ at, dueMs: fullMs(limit) });

export const isFull = ({ dueMs }: Bucket, limit: RateLimit): boolean => dueMs <= fullMs(limit);

/** Returns the bucket at another time. If the clock went back, no time has passed. */
export const bucketAt = ({ at, dueMs }: Bucket, now: number, limit: RateLimit): Bucket => ({
  at: now,
  dueMs: Math.max(dueMs - Math.max(0, now - at), fullMs(limit)),
});

/**
 * Takes a token; if none is there, the one that is refilled next and not yet taken. A full bucket
 * counts as refilled `jitterMs` later.
 */
export const takeToken = ({ at, dueMs }: Bucket, limit: RateLimit): Bucket => ({
  at,
  dueMs: Math.max(dueMs, fullMs(limit) + Math.min(jitterMs, limit.periodMs)) + limit.periodMs,
});

/** A refused call gives its token back, but none is left. The next one is there after a period. */
export const emptyBucket = ({ at, dueMs }: Bucket, { periodMs }: RateLimit): Bucket => ({
  at,
  dueMs: Math.max(dueMs - periodMs, periodMs),
});
