import { isObject } from "../kernel/json.js";
import type { EndpointLimit } from "./plan-rates.js";

/** The limits that calls to an endpoint keep to. */
export interface RateLimit {
  /** Time to refill one token, in milliseconds. 0 if the rate is unknown or has no effect. */
  readonly periodMs: number;
  /** Number of calls that may be sent at once, at least 1. */
  readonly burst: number;
}

/**
 * One endpoint's token bucket, as plain JSON for every process that shares it. A call may be sent
 * when `dueMs` is 0 or less, and takes a token then: a period more until the next. The queue of the
 * endpoint (`endpoint-queue.ts`) waits until then. A duration stays valid if a clock is set.
 */
export interface Bucket {
  /** The store's time, in milliseconds. */
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
 * Returns the part of an endpoint's limit that may be used, a fraction of its rate and burst, but at
 * least one call.
 */
export const shareLimit = (
  { rate, burst }: Pick<EndpointLimit, "rate" | "burst">,
  share: number,
): RateLimit => ({
  periodMs: (1000 / (rate * share)) * driftPart,
  burst: Math.max(1, Math.floor(burst * share)),
});

/**
 * Part of a token that stays unused, because a call may take less time to the service than the one
 * before it, and would be refused if it arrived a moment too early. A bucket of one call pays for
 * it with every call, any other one only when it was full.
 */
const unusedPart = ({ burst }: RateLimit): number => (burst === 1 ? 0.001 : 0.05);

/** The `dueMs` of a full bucket, without the part of a token that stays unused. */
const fullestMs = (limit: RateLimit): number =>
  (1 + unusedPart(limit) - limit.burst) * limit.periodMs;

/** Returns a full bucket. */
export const fullBucket = (at: number, { periodMs, burst }: RateLimit): Bucket => ({
  at,
  dueMs: (1 - burst) * periodMs,
});

/** Returns the bucket at another time. If the clock went back, no time has passed. */
export const bucketAt = ({ at, dueMs }: Bucket, now: number, limit: RateLimit): Bucket => ({
  at: now,
  dueMs: Math.max(dueMs - Math.max(0, now - at), fullBucket(now, limit).dueMs),
});

/** Takes a token; if none is there, the one that is refilled next and not yet taken. */
export const takeToken = ({ at, dueMs }: Bucket, limit: RateLimit): Bucket => ({
  at,
  dueMs: Math.max(dueMs, fullestMs(limit)) + limit.periodMs,
});

/**
 * A call was answered. Until it arrived, a bucket that was full gained nothing.
 *
 * @param leastMs least time that a call takes from its arrival to the answer, in milliseconds
 */
export const countArrival = ({ at, dueMs }: Bucket, limit: RateLimit, leastMs: number): Bucket => ({
  at,
  dueMs: Math.max(dueMs, fullestMs(limit) + limit.periodMs - leastMs),
});

/**
 * A call was refused: it took no token, and none is left. The next one is there after a period, or
 * after the pause if the service requested a shorter one.
 */
export const emptyBucket = (
  { at, dueMs }: Bucket,
  { periodMs }: RateLimit,
  pauseMs: number,
): Bucket => ({ at, dueMs: Math.max(dueMs - periodMs, Math.min(periodMs, pauseMs)) });

/** Returns a stored value if it is a bucket; undefined for anything else. */
export const readBucket = (kept: unknown): Bucket | undefined => {
  const { at, dueMs } = isObject(kept) ? kept : {};
  // 1e999 is read as Infinity.
  return typeof at === "number" && typeof dueMs === "number" && Number.isFinite(at + dueMs)
    ? { at, dueMs }
    : undefined;
};
