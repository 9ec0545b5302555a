import type { Kept } from "../stores/bucket-store.js";

/**
 * How far the search for the burst is.
 *
 * - `slow start`: nothing is known; calls are tried, two at a time.
 * - `resting`: one was refused, but the bucket may not have been full.
 * - `probing`: it was idle for so long that it may hold more; calls are tried, one at a time.
 * - `found`: one was refused, and the bucket had been full. Searched again when the time is over.
 * - `spaced`: it saves up nothing (a burst of one), so a margin is kept beside each period.
 */
export type BurstPhase =
  | { readonly name: "slow start" | "resting" | "probing" }
  | { readonly name: "found"; readonly leftMs: number }
  | { readonly name: "spaced"; readonly leftMs: number; readonly factor: number };

/**
 * What is known of the bucket of one endpoint, for every process that shares it: plain JSON. All
 * times in it are durations, so that a clock that is set does not matter.
 */
export interface Bucket extends Kept {
  /** Time in which one token comes back, in milliseconds, when this was kept. */
  readonly periodMs: number;
  /** Tokens that are surely there, not cut at the capacity; below 0 while calls are held back. */
  readonly tokens: number;
  /**
   * Calls that got through, less the tokens that have come back since. Whatever was there before and
   * whatever others take: the service's bucket holds at least so many.
   */
  readonly spent: number;
  /** Tokens due before this row of calls: how long nothing was taken. */
  readonly idle: number;
  /** Calls that it surely takes at once; 0: nothing is known. */
  readonly burst: number;
  /** Time since so many were last seen to get through, in milliseconds. */
  readonly unprovedMs: number;
  readonly phase: BurstPhase;
  /** The process that makes probes, so that others do not do so together, and the time since its last one. */
  readonly prober?: { readonly id: string; readonly agoMs: number };
}

/** Found out again after this time, in milliseconds: being wrong for longer is worth one refusal an hour. */
export const foundMs = 60 * 60_000;

/** A burst that was not seen for a day is not believed any more: plans are changed. In milliseconds. */
const provedMs = 24 * 60 * 60_000;

/** A bucket that is not known yet is empty and fills from now on. */
export const unknownBucket = (now: number, periodMs: number): Bucket => ({
  at: now,
  periodMs,
  tokens: 0,
  spent: 0,
  idle: 0,
  burst: 0,
  unprovedMs: 0,
  phase: { name: "slow start" },
});

const laterPhase = (phase: BurstPhase, ms: number): BurstPhase => {
  if (!("leftMs" in phase)) return phase;
  const leftMs = Math.min(foundMs, phase.leftMs) - ms;
  if (leftMs > 0) return { ...phase, leftMs };
  return { name: phase.name === "found" ? "probing" : "resting" };
};

const forgotten = { burst: 0, unprovedMs: 0, phase: { name: "slow start" } } as const;

/** A period that is longer by this is that of a lower plan: they differ by a factor of 1.8 at least (specification §8.3). */
const slower = 1.05;

/**
 * The plan was found to be lower: the next token comes after one of its periods, and calls were refused
 * for another reason than the margin.
 */
const atLowerRate = (bucket: Bucket, periodMs: number): Bucket => {
  if (periodMs < slower * bucket.periodMs) return { ...bucket, periodMs };
  const { phase } = bucket;
  const calm: BurstPhase = phase.name === "spaced" ? { ...phase, factor: 1 } : phase;
  return { ...bucket, periodMs, tokens: 0, phase: calm };
};

/** The bucket at another time. Where the clock went back no time has passed. */
export const bucketAt = (kept: Bucket, now: number, periodMs: number): Bucket => {
  const bucket = kept.periodMs === periodMs ? kept : atLowerRate(kept, periodMs);
  const ms = Math.max(0, now - bucket.at);
  const { prober } = bucket;
  const later: Bucket = {
    ...bucket,
    at: now,
    tokens: bucket.tokens + ms / periodMs,
    spent: Math.max(0, bucket.spent - ms / periodMs),
    unprovedMs: bucket.unprovedMs + ms,
    phase: laterPhase(bucket.phase, ms),
    ...(prober ? { prober: { ...prober, agoMs: prober.agoMs + ms } } : {}),
  };
  return later.unprovedMs > provedMs ? { ...later, ...forgotten } : later;
};

/** Longest time for which calls are held back, in periods: as long as a Retry-After is believed. */
export const longestHoldPeriods = 16;

/** The bucket with the next token due after `waitMs` at the soonest. */
export const heldFor = (bucket: Bucket, waitMs: number, periodMs: number): Bucket => ({
  ...bucket,
  tokens: Math.min(bucket.tokens, 1 - Math.min(longestHoldPeriods, waitMs / periodMs)),
});
