import { isObject } from "../kernel/json.js";
import type { Kept } from "./bucket-store.js";

/**
 * How far the search for the burst is.
 *
 * - `slow start`: nothing is known; calls are tried, two at a time.
 * - `resting`: one was refused, but the bucket may not have been full.
 * - `probing`: it was idle for so long that it may hold more; calls are tried, one at a time.
 * - `found`: one was refused, and the bucket had been full. Searched again when the time is over.
 * - `spaced`: it saves up nothing (a burst of one), so a margin is kept beside each period.
 */
type BurstPhase =
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
const foundMs = 60 * 60_000;

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

/** What holds for the calls of an endpoint. */
export interface RateLimit {
  /** Time in which one token comes back, in milliseconds. */
  readonly periodMs: number;
  /** Calls that it takes at once, where that is configured. */
  readonly burst?: number | undefined;
  /** Calls that may be made at once: the burst, or the part of it that this tool may use. */
  readonly mostBurst: number;
  /** Part of a token at which a call may be tried, while a higher plan is tried. */
  readonly early?: number | undefined;
  /** Names this process among those that share the bucket. */
  readonly process: string;
}

const isPhase = (value: unknown): boolean => {
  if (!isObject(value)) return false;
  const { name, leftMs, factor } = value;
  if (name === "found") return isNumber(leftMs);
  if (name === "spaced") return isNumber(leftMs) && isNumber(factor);
  return name === "slow start" || name === "resting" || name === "probing";
};

const isProber = (value: unknown): boolean =>
  value === undefined || (isObject(value) && typeof value.id === "string" && isNumber(value.agoMs));

const isBucket = (value: Kept | undefined): value is Bucket => {
  if (!isObject(value)) return false;
  const { at, periodMs, tokens, spent, idle, burst, unprovedMs, phase, prober } = value;
  const numbers = [at, periodMs, tokens, spent, idle, burst, unprovedMs];
  return numbers.every(isNumber) && isPhase(phase) && isProber(prober);
};

/** What a store keeps, as a bucket; undefined for anything else: then it is found out again. */
export const bucketOf = (kept: Kept | undefined): Bucket | undefined =>
  isBucket(kept) ? kept : undefined;

/** Whether a value of JSON is a number; 1e999 is read as none. */
export const isNumber = (value: unknown): value is number => Number.isFinite(value);

/** Lateness of our own timers that is made up for by sending the next call early, in milliseconds: a stall of a busy machine (assumed). */
const latenessMs = 150;

/**
 * Least margin of a bucket that saves up nothing: what loopback and timers vary by, in milliseconds.
 * Without it a burst of one has 7.2 refusals for 5.3, with 20 it is 2 % slower (measured in virtual time).
 */
const leastMarginMs = 5;

/**
 * The same as a part of the period: costs 0.4 %, and holds on lines of a few ms of jitter. With none, or
 * 2 %, a burst of one that others use, too, is 2 or 6 % slower (measured in virtual time).
 */
const marginPart = 0.004;

/**
 * Largest margin, as a part of the period. With 6 % a burst of one is 1 % faster and has 4 refusals more
 * in the mean (measured in virtual time).
 */
const mostMarginPart = 0.25;

/** A process that makes probes keeps others from it for so long after each, in milliseconds: longer than any usual answer takes. */
const proberMs = 3_000;

/** A bucket is full (assumed) when it was idle for so many times as long as the burst that is known takes to come back. */
const surelyFull = 2;

const nothingSaved = ({ phase }: Bucket, { burst }: RateLimit): boolean =>
  phase.name === "spaced" || burst === 1;

/** Tokens that late timers may leave in the bucket, and which are then used at once. */
const latenessTokens = ({ burst, periodMs }: RateLimit): number =>
  Math.min(burst ?? Number.POSITIVE_INFINITY, Math.max(2, 1 + latenessMs / periodMs));

/** The least margin, in periods. */
const leastMargin = ({ periodMs }: RateLimit): number =>
  Math.max(leastMarginMs, marginPart * periodMs) / periodMs;

/** Tokens that may be saved up: not quite all, as a call that is early by a moment is refused. */
export const capacityOf = (bucket: Bucket, limit: RateLimit): number => {
  if (nothingSaved(bucket, limit)) return 1;
  const late = latenessTokens(limit);
  if (limit.burst !== undefined) return Math.max(limit.mostBurst - leastMargin(limit), late);
  const known = Math.min(bucket.burst, limit.mostBurst) - leastMargin(limit);
  // Found out: it holds no more, so no more than that is made up for.
  return bucket.phase.name === "found" ? Math.max(1, known) : Math.max(known, late);
};

/** Pause kept beside the period, in milliseconds, where a call that comes too early is refused. */
export const marginMs = (bucket: Bucket, limit: RateLimit): number => {
  if (!nothingSaved(bucket, limit)) return 0;
  const factor = bucket.phase.name === "spaced" ? bucket.phase.factor : 1;
  return Math.min(mostMarginPart, leastMargin(limit) * factor) * limit.periodMs;
};

/** So much of a call is lost to margins and rounding while the calls of a burst are counted. */
const rounding = (limit: RateLimit): number => 0.01 + 2 * leastMargin(limit);

/**
 * Calls of a burst, those under way included: while time passes, what is spent falls as the tokens
 * rise. A bucket that nobody else uses never holds fewer.
 */
const counted = (bucket: Bucket, limit: RateLimit): number =>
  Math.min(bucket.tokens, capacityOf(bucket, limit)) + bucket.spent;

/** Calls are tried. */
export const isSearching = ({ name }: BurstPhase): boolean =>
  name === "slow start" || name === "probing";

/**
 * A probe must be answered before the next token is due, or it may be had for that token, and the due
 * call comes too early. On lines as long as the period there is always one due, so half of it is kept.
 */
const latestProbe = (roundTripMs: number, limit: RateLimit): number =>
  Math.max(0.5, 1 - Math.max(roundTripMs / limit.periodMs, rounding(limit)));

/**
 * Whether a call may be tried although its token is not due.
 *
 * @param underWay probes under way
 * @param roundTripMs time that the last probe took
 */
export const mayProbe = (
  bucket: Bucket,
  limit: RateLimit,
  underWay: number,
  roundTripMs: number,
): boolean => {
  if (bucket.tokens > latestProbe(roundTripMs, limit)) return false;
  const { phase, prober, burst } = bucket;
  // Two save most of the time of a search on a long line; more would be refused together.
  const together = phase.name === "slow start" && burst >= 2 ? 2 : 1;
  const isFree = !prober || prober.id === limit.process || prober.agoMs > proberMs;
  const hasRoom = underWay < together && Math.round(counted(bucket, limit)) < limit.mostBurst;
  return isSearching(phase) && isFree && hasRoom;
};

/** After an idle time the bucket may be fuller than was ever seen. */
export const afterIdle = (bucket: Bucket): Bucket => {
  const { tokens: idle, phase, burst } = bucket;
  const again = phase.name === "resting" && idle > surelyFull * Math.max(1, burst);
  return { ...bucket, idle, ...(again ? { phase: { name: "probing" } } : {}) };
};

/** A probe got through, with so many others under way. */
export const probePassed = (bucket: Bucket, limit: RateLimit, underWay: number): Bucket => {
  const seen = Math.floor(counted(bucket, limit) - underWay + rounding(limit));
  if (seen <= bucket.burst) return bucket;
  const phase: BurstPhase = bucket.phase.name === "spaced" ? { name: "resting" } : bucket.phase;
  return { ...bucket, burst: seen, unprovedMs: 0, phase };
};

/**
 * A probe had the token of a due call, which was refused in its place: the probe proved nothing.
 *
 * @param underWay probes under way
 */
export const probeOvertook = (bucket: Bucket, limit: RateLimit, underWay: number): Bucket => {
  const seen = Math.floor(counted(bucket, limit) - underWay + rounding(limit));
  const isTooMany = seen < bucket.burst;
  return { ...bucket, burst: isTooMany ? Math.max(1, bucket.burst - 1) : bucket.burst };
};

/** A probe was refused: the search ends. */
export const probeRefused = (bucket: Bucket): Bucket => {
  if (!isSearching(bucket.phase)) return bucket;
  const wasFull = bucket.idle > surelyFull * Math.max(1, bucket.burst);
  const { prober: _, ...rest } = bucket;
  return { ...rest, phase: wasFull ? { name: "found", leftMs: foundMs } : { name: "resting" } };
};

const spaced = (factor: number): BurstPhase => ({ name: "spaced", leftMs: foundMs, factor });

/** A call that was believed to be saved up was refused: the bucket holds fewer, or others took them. */
export const savedRefused = (bucket: Bucket, limit: RateLimit): Bucket => {
  if (limit.burst !== undefined) return bucket;
  const seen = Math.floor(bucket.spent + rounding(limit));
  const burst = Math.max(1, seen, Math.floor(bucket.burst / 2));
  return { ...bucket, burst, phase: burst < 2 ? spaced(1) : { name: "resting" } };
};

/** Refused although it was due: the call came early by some milliseconds, or was not alone. */
export const dueRefused = (bucket: Bucket, limit: RateLimit): Bucket => {
  const { phase, burst } = bucket;
  if (phase.name === "spaced") return { ...bucket, phase: spaced(2 * phase.factor) };
  if (limit.burst !== undefined) {
    return limit.burst === 1 ? { ...bucket, phase: spaced(2) } : bucket;
  }
  if (burst < 2) return { ...bucket, phase: spaced(1) };
  // It may hold less than was made up for.
  return latenessTokens(limit) > burst
    ? { ...bucket, phase: { name: "found", leftMs: foundMs } }
    : bucket;
};

/** Much is lost to lateness: a bucket that was taken for one without savings is tested again. */
export const searchedAgain = (bucket: Bucket): Bucket => ({
  ...bucket,
  phase: { name: "resting" },
});
