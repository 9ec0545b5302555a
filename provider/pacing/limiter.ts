import { isObject } from "../kernel/json.js";
import type { Admission, CallOutcome, Delay, Slept } from "./endpoint-queue.js";
import type { Kept } from "./shared-buckets.js";
import type { PlanEvidence } from "./tenant-plan.js";

/** What one process remembers about refusals on one endpoint. */
interface Refusals {
  /** Refusals since a call last succeeded. */
  readonly inRow: number;
  /** Short pauses that may still be tried. */
  readonly shortLeft: number;
  /** Calls that succeeded since the last refusal. */
  readonly acceptedSince: number;
  /** At any time. */
  readonly wasRefused: boolean;
}

const noRefusals: Refusals = { inRow: 0, shortLeft: 0, acceptedSince: 0, wasRefused: false };

/** One process's private state for one endpoint. */
export interface OwnState {
  readonly underWay: Readonly<Record<Admission["kind"], number>>;
  readonly admitted: number;
  /**
   * Sequence numbers of the last probe, the last call before calls were held back, and the last
   * call before the latest refusal.
   */
  readonly lastProbe: number;
  readonly heldAt: number;
  readonly refusedAt: number;
  /**
   * Maximum number of calls that may use saved-up tokens at once; grows from 1 to 8 as they
   * succeed.
   */
  readonly window: number;
  /** The store's time at the last call, not counting probes and early calls. */
  readonly takenAt: number;
  /** Duration of the last successful probe, in milliseconds. */
  readonly roundTripMs: number;
  /** How long the store's clock stood still while this process slept, in milliseconds. */
  readonly behindMs: number;
  /**
   * Whether a call has received a response since the last long pause, and how many of the tokens at
   * the first call are left.
   */
  readonly isAnswered: boolean;
  readonly tokensLeft: number | undefined;
  readonly refusals: Refusals;
  /** Average lateness of calls, as a fraction of a period. */
  readonly lateness: number;
  readonly wasDoubted: boolean;
}

/** Everything that a decision depends on; `bucket` is shared with other processes. */
export interface LimiterState {
  readonly own: OwnState;
  readonly bucket: Bucket | undefined;
}

/**
 * The next state and the result; `bucket` is the same object as before if nothing needs to be
 * stored.
 */
export interface LimiterStep<R> {
  readonly state: LimiterState;
  readonly result: R;
}

export const ownAtFirst: OwnState = {
  underWay: { due: 0, saved: 0, probe: 0, early: 0 },
  admitted: 0,
  lastProbe: 0,
  heldAt: 0,
  refusedAt: 0,
  window: 1,
  takenAt: Number.NEGATIVE_INFINITY,
  roundTripMs: 0,
  behindMs: 0,
  isAnswered: false,
  tokensLeft: undefined,
  refusals: noRefusals,
  lateness: 0,
  wasDoubted: false,
};

/** Below the resolution of timers, which fire at whole milliseconds. */
const closeEnoughMs = 0.05;

/**
 * A pause after which connections must be opened again: longer than this, because servers close
 * idle ones, and than two periods; in milliseconds.
 */
const quietMs = 10_000;

/** A clock that stands still or goes back while this process sleeps must not delay it. */
const awake = (own: OwnState, now: number, slept: Slept | undefined): OwnState => {
  if (!slept) return own;
  const missingMs = slept.ms - (now - slept.since);
  // Further back than was slept: a different clock, because the store was replaced.
  if (now < slept.since) return own.behindMs === 0 ? own : { ...own, behindMs: 0 };
  return missingMs > slept.ms / 2 ? { ...own, behindMs: own.behindMs + missingMs } : own;
};

const afterPause = (
  own: OwnState,
  bucket: Bucket | undefined,
  now: number,
  { periodMs }: RateLimit,
): OwnState => {
  const isPause = bucket && now - bucket.at > Math.max(2 * periodMs, quietMs);
  return isPause ? { ...own, window: 1, isAnswered: false, tokensLeft: undefined } : own;
};

/**
 * Decides whether a call may be sent, or how long it must wait.
 *
 * A token added at the limit's rate is certain to be available. Probes test whether more tokens
 * have accumulated, until one probe is refused. If the endpoint has no other users, this is usually
 * its only refusal.
 */
export const nextTurn = (
  { own: before, bucket: kept }: LimiterState,
  slept: Slept | undefined,
  clock: number,
  limit: RateLimit,
): LimiterStep<Admission | Delay> => {
  const { periodMs } = limit;
  const onTime = awake(before, clock, slept);
  const now = clock + onTime.behindMs;
  const own = afterPause(onTime, kept, now, limit);
  const { saved, probe, early } = own.underWay;
  const delayed = (bucket: Bucket | undefined, waitMs: number, mayEndEarly: boolean) => ({
    state: { own, bucket },
    result: { waitMs, periodMs, mayEndEarly, at: clock },
  });
  const untilDue = Math.min(periodMs, own.takenAt + periodMs - now);
  if (saved >= own.window && untilDue > 0) return delayed(kept, untilDue, true);
  const bucket = bucketAt(kept ?? unknownBucket(now, periodMs), now, periodMs);
  const dueMs = (1 - bucket.tokens) * periodMs;
  if (dueMs <= closeEnoughMs) return taken(own, bucket, now, limit);
  if (mayProbe(bucket, limit, probe, own.roundTripMs)) return probed(own, bucket, limit);
  // While a higher plan is tried, a fraction of a token is enough, for one call at a time.
  const part = early === 0 && !isSearching(bucket.phase) ? (limit.early ?? 1) : 1;
  const waitMs = dueMs - (1 - part) * periodMs;
  if (waitMs <= closeEnoughMs) return sentEarly(own, bucket, part);
  // Most questions change nothing; a clock that went back is stored, otherwise its time would not
  // count.
  return delayed(kept && kept.at <= now ? kept : bucket, waitMs, probe + early > 0);
};

/** Number of tokens from which a call is a saved-up one: a burst of two, minus the margin. */
const savedFrom = 1.8;

const admitted = (
  own: OwnState,
  bucket: Bucket,
  admission: Omit<Admission, "number">,
  changes: Partial<OwnState>,
): LimiterStep<Admission> => {
  const { kind } = admission;
  const number = own.admitted + 1;
  const underWay = { ...own.underWay, [kind]: own.underWay[kind] + 1 };
  const state = { own: { ...own, underWay, admitted: number, ...changes }, bucket };
  return { state, result: { ...admission, number } };
};

/** Takes an available token. */
const taken = (own: OwnState, full: Bucket, now: number, limit: RateLimit) => {
  const capacity = capacityOf(full, limit);
  const bucket = full.tokens > capacity + 1 ? afterIdle(full) : full;
  const tokens = Math.min(full.tokens, capacity);
  const spent = bucket.spent + 1;
  const isProof = bucket.burst > 0 && spent > bucket.burst - 0.5;
  const rest: Bucket = {
    ...bucket,
    tokens: tokens - 1 - marginMs(bucket, limit) / limit.periodMs,
    spent,
    ...(isProof ? { unprovedMs: 0 } : {}),
  };
  const kind = tokens >= savedFrom ? "saved" : "due";
  const { unprovedMs } = bucket;
  const changes = { takenAt: now, tokensLeft: (own.tokensLeft ?? tokens) - 1 };
  return admitted(own, rest, { kind, at: now, tokens: full.tokens, unprovedMs }, changes);
};

/** Sends a call as a probe, to find out the burst. */
const probed = (own: OwnState, bucket: Bucket, { process }: RateLimit) => {
  const { at, tokens, spent } = bucket;
  const rest = { ...bucket, spent: spent + 1, prober: { id: process, agoMs: 0 } };
  const changes = { lastProbe: own.admitted + 1, tokensLeft: own.tokensLeft ?? tokens };
  return admitted(own, rest, { kind: "probe", at, tokens }, changes);
};

/** Sends a call sooner than the plan allows, because a higher one is tried. */
const sentEarly = (own: OwnState, bucket: Bucket, part: number) => {
  const rest = { ...bucket, tokens: bucket.tokens - part, spent: bucket.spent + part };
  return admitted(own, rest, { kind: "early", at: bucket.at, tokens: part }, {});
};

/** Maximum saved-up calls in progress at once: the connections of the transport's pool. */
const mostSavedUnderWay = 8;

/**
 * Average lateness, as a fraction of a period, that justifies another refusal to be sure. Without
 * it a bucket of 20 that was taken for one of 1 is 47 % slower on late timers (measured in virtual
 * time).
 */
const doubtPart = 0.1;

/** Calls over which lateness is averaged, and which must have succeeded before it counts. */
const doubtAfter = 50;

/** A moving average. */
const meanLateness = ({ lateness }: OwnState, lateTokens: number): number =>
  lateness + (Math.min(1, Math.max(0, lateTokens)) - lateness) / doubtAfter;

/**
 * A machine that stalls makes an empty bucket look like one without a burst, and then all of its
 * lateness is lost. If that is a lot, the result is tested again, once.
 */
const isOftenLate = (own: OwnState, { burst }: RateLimit, { phase }: Bucket): boolean =>
  phase.name === "spaced" &&
  burst === undefined &&
  !own.wasDoubted &&
  own.refusals.acceptedSince >= doubtAfter &&
  own.lateness >= doubtPart;

const accepted = (
  { own, bucket: kept }: LimiterState,
  { kind, tokens, at }: Admission,
  now: number,
  limit: RateLimit,
): LimiterState => {
  // Redis was emptied in the meantime.
  if (!kept) return { own, bucket: kept };
  const current = () => bucketAt(kept, Math.max(now, kept.at), limit.periodMs);
  if (kind === "probe") {
    const answered = { ...own, roundTripMs: Math.max(0, now - at) };
    return firstAnswer(answered, probePassed(current(), limit, own.underWay.probe), limit);
  }
  const next: OwnState = {
    ...own,
    window: kind === "saved" ? Math.min(own.window + 1, mostSavedUnderWay) : own.window,
    refusals: afterAccepted(own.refusals),
    lateness: kind === "early" ? own.lateness : meanLateness(own, tokens - 1),
  };
  if (isOftenLate(next, limit, kept)) {
    const bucket: Bucket = { ...current(), phase: { name: "resting" } };
    return { own: { ...next, wasDoubted: true }, bucket };
  }
  return next.isAnswered ? { own: next, bucket: kept } : firstAnswer(next, current(), limit);
};

/** The call took no token in the service: an early one returns the fraction it was sent for. */
const refunded = (bucket: Bucket, { kind, tokens }: Admission): Bucket => {
  const part = kind === "early" ? tokens : 1;
  const given = kind === "early" ? bucket.tokens + part : bucket.tokens;
  return { ...bucket, tokens: given, spent: Math.max(0, bucket.spent - part) };
};

const probeWasRefused = (
  before: OwnState,
  given: Bucket,
  askedMs: number | undefined,
  limit: RateLimit,
): LimiterState => {
  const { own, bucket } = firstAnswer(before, given, limit);
  const { periodMs } = limit;
  const ownMs = Math.max(0, 1 - bucket.tokens) * periodMs;
  const waitMs = pauseAsked(ownMs, askedMs, 1, periodMs);
  return { own, bucket: waitMs > ownMs ? heldFor(bucket, waitMs, periodMs) : bucket };
};

const turnRefused = (
  own: OwnState,
  before: Bucket,
  admission: Admission,
  askedMs: number | undefined,
  limit: RateLimit,
): LimiterState => {
  const { periodMs } = limit;
  const isSpaced = before.phase.name === "spaced";
  const { refusals, pausePeriods, isNearMiss } = afterRefusal(own.refusals, isSpaced);
  const held = { ...own, refusals, heldAt: own.admitted, window: 1 };
  const { kind, unprovedMs = 0 } = admission;
  const tokens = before.tokens + 1;
  const given: Bucket = { ...refunded(before, admission), tokens, idle: 0, unprovedMs };
  const missed = isNearMiss ? dueRefused(given, limit) : given;
  const bucket = kind === "saved" ? savedRefused(given, limit) : missed;
  const ownPeriods = kind === "saved" ? 1 : pausePeriods;
  const ownMs = Math.max(2 * marginMs(bucket, limit), ownPeriods * periodMs);
  const waitMs = pauseAsked(ownMs, askedMs, refusals.inRow, periodMs);
  return { own: held, bucket: heldFor(bucket, waitMs, periodMs) };
};

const refused = (
  { own: before, bucket: kept }: LimiterState,
  admission: Admission,
  askedMs: number | undefined,
  now: number,
  limit: RateLimit,
): LimiterStep<PlanEvidence | undefined> => {
  const own = { ...before, refusedAt: before.admitted };
  const known = kept ?? unknownBucket(now, limit.periodMs);
  const bucket = bucketAt(known, Math.max(now, known.at), limit.periodMs);
  const given = refunded(bucket, admission);
  const { kind, number } = admission;
  if (kind === "early") {
    return { state: probeWasRefused(own, given, askedMs, limit), result: "early refused" };
  }
  // A probe sent after a due call may have arrived first and taken its token.
  const wasOvertaken = kind === "due" && own.lastProbe > number;
  if (kind === "probe" || wasOvertaken) {
    const counted = wasOvertaken ? probeOvertook(given, limit, own.underWay.probe) : given;
    const state = probeWasRefused(own, probeRefused(counted), askedMs, limit);
    return { state, result: wasOvertaken ? undefined : "probe refused" };
  }
  // Calls that were in progress together are refused together: that is one refusal, not many.
  if (number <= own.heldAt) return { state: { own, bucket: given }, result: undefined };
  return { state: turnRefused(own, bucket, admission, askedMs, limit), result: "refused" };
};

/** Returns the state after a call has ended, and what the call shows about the plan. */
export const afterOutcome = (
  { own: before, bucket }: LimiterState,
  admission: Admission,
  outcome: CallOutcome,
  now: number,
  limit: RateLimit,
): LimiterStep<PlanEvidence | undefined> => {
  const { kind, number } = admission;
  const underWay = { ...before.underWay, [kind]: before.underWay[kind] - 1 };
  const state = { own: { ...before, underWay }, bucket };
  if (outcome.type === "ended") return { state, result: undefined };
  if (outcome.type === "refused") return refused(state, admission, outcome.askedMs, now, limit);
  const evidence = kind === "early" ? "early accepted" : "accepted";
  // Sent before the last refusal: says nothing about the rate since then.
  const isOld = number <= before.refusedAt;
  return { state: accepted(state, admission, now, limit), result: isOld ? undefined : evidence };
};

type KnownState = LimiterState & { readonly bucket: Bucket };

/**
 * The first call after a pause arrives late: it fetches a token and connects. A bucket that was
 * full could accumulate nothing in that time, so tokens due before this answer are not counted.
 */
const firstAnswer = (own: OwnState, bucket: Bucket, limit: RateLimit): KnownState => {
  if (own.isAnswered) return { own, bucket };
  const tokens = Math.min(bucket.tokens, capacityOf(bucket, limit));
  const left = Math.min(tokens, Math.max(0, own.tokensLeft ?? 0));
  const shifted = { ...bucket, tokens: left, spent: bucket.spent + tokens - left };
  return { own: { ...own, isAnswered: true }, bucket: tokens > left ? shifted : bucket };
};

/**
 * After this many successful calls since the last refusal, refusals count as rare. With 2 a bucket
 * with other users refuses 25 % more calls; with 32 nothing changes (measured in virtual time).
 */
const rareAfter = 8;

/**
 * A near miss is over after a moment: the two short pauses, in periods. Without them a burst of one
 * takes 1.34 times as long (measured in virtual time).
 */
const shortPauses = [0.02, 0.12] as const;

/**
 * Our own longest pause, in periods: 8 s at one call a second (specification §8.1 rule 6). With 2 a
 * burst of one with other users takes 22 % longer (measured in virtual time).
 */
const mostPeriods = 8;

/**
 * Spreads pauses from 75 to 125 %, by the golden ratio as evenly as possible, so that they do not
 * synchronize with somebody else's regular calls.
 */
const spread = (number: number): number => 0.75 + 0.5 * ((number * 0.618_034) % 1);

const afterAccepted = (refusals: Refusals): Refusals => ({
  ...refusals,
  inRow: 0,
  acceptedSince: refusals.acceptedSince + 1,
});

const longPause = (inRow: number): number => {
  const doublings = Math.max(0, inRow - 3);
  const periods = Math.min(mostPeriods, 2 ** doublings);
  return doublings === 0 ? periods : periods * spread(inRow);
};

/**
 * The state after the refusal of a due call: two short pauses if it may have been a near miss, then
 * 1, 2, 4, 8 periods.
 *
 * @param isSpaced the bucket has no burst, so near misses are expected
 */
const afterRefusal = (
  refusals: Refusals,
  isSpaced: boolean,
): { readonly refusals: Refusals; readonly pausePeriods: number; readonly isNearMiss: boolean } => {
  const inRow = refusals.inRow + 1;
  const isRare = refusals.acceptedSince >= rareAfter || !refusals.wasRefused;
  const atFirst = isRare || isSpaced ? shortPauses.length : 0;
  const shortLeft = inRow > 1 ? refusals.shortLeft : atFirst;
  const next = { inRow, acceptedSince: 0, wasRefused: true };
  if (shortLeft === 0) {
    const pausePeriods = longPause(inRow);
    return { refusals: { ...next, shortLeft }, pausePeriods, isNearMiss: false };
  }
  const pausePeriods = shortPauses[shortPauses.length - shortLeft] ?? 1;
  return {
    refusals: { ...next, shortLeft: shortLeft - 1 },
    pausePeriods,
    isNearMiss: inRow === 1,
  };
};

/** A header in whole seconds may request up to a second too much, in milliseconds. */
const wholeMs = 1000;

/**
 * Maximum number of periods for which calls are held back: the longest accepted Retry-After (see
 * {@link longestRetryAfterMs}).
 */
export const longestHoldPeriods = 16;

/**
 * The pause after a refusal if the service requests a different one: the request counts as far as
 * it is plausible. A bucket gives a token back within a period, so a longer wait is at first taken
 * for a mistake, then accepted for 1, 2, 4, 8, 16 periods while calls are still refused.
 *
 * @param ownMs the wait without a request from the service
 * @param askedMs the wait that the service requests
 * @param inRow refusals since a call succeeded, including this one
 */
const pauseAsked = (
  ownMs: number,
  askedMs: number | undefined,
  inRow: number,
  periodMs: number,
): number => {
  if (askedMs === undefined) return ownMs;
  const inexact = askedMs % wholeMs === 0 ? wholeMs : 0;
  if (inRow <= 1 && askedMs > periodMs + inexact) return ownMs;
  const most = Math.min(longestHoldPeriods, 2 ** Math.max(0, inRow - 2)) * periodMs;
  const atLeastMs = Math.min(askedMs - inexact, most);
  return Math.min(Math.max(ownMs, atLeastMs), Math.min(askedMs, most));
};

/**
 * The progress of the search for the burst.
 *
 * - `slow start`: nothing is known; calls are tried, two at a time.
 * - `resting`: one was refused, but the bucket may not have been full.
 * - `probing`: the bucket was idle for so long that it may hold more; calls are tried, one at a
 *   time.
 * - `found`: one was refused although the bucket had been full. Searched again when the time is
 *   over.
 * - `spaced`: there is no burst (a burst of one), so a margin is added to each period.
 */
type BurstPhase =
  | { readonly name: "slow start" | "resting" | "probing" }
  | { readonly name: "found"; readonly leftMs: number }
  | { readonly name: "spaced"; readonly leftMs: number; readonly factor: number };

/**
 * What is known about one endpoint's bucket, as plain JSON for every process that shares it. All
 * times in it except `at` are durations, which remain valid if a clock is set.
 */
export interface Bucket extends Kept {
  /** Time to refill one token, in milliseconds, as of when the bucket was stored. */
  readonly periodMs: number;
  /**
   * Number of due tokens, not capped at the capacity; can be negative while calls are held back.
   */
  readonly tokens: number;
  /**
   * Number of calls that were not refused, minus the tokens refilled since then. The service's
   * bucket has at least this capacity, regardless of what it contained before and what others take.
   */
  readonly spent: number;
  /** Number of tokens due before this series of calls; indicates how long none were taken. */
  readonly idle: number;
  /** Number of calls that the bucket certainly accepts at once; 0 if unknown. */
  readonly burst: number;
  /** Time since `burst` calls last succeeded at once, in milliseconds. */
  readonly unprovedMs: number;
  readonly phase: BurstPhase;
  /** The only process that currently sends probes, and the time since its last probe. */
  readonly prober?: { readonly id: string; readonly agoMs: number };
}

/**
 * The burst is searched again after this time, in milliseconds: avoiding a longer error is worth
 * one refusal an hour.
 */
const foundMs = 60 * 60_000;

/** A burst that was not observed for a day is no longer trusted: plans change. In milliseconds. */
const provedMs = 24 * 60 * 60_000;

/** Returns a bucket about which nothing is known: it starts empty and fills from `now` on. */
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

/**
 * A period that is longer by this factor belongs to a lower plan: plans differ by a factor of at
 * least 1.8 (specification §8.3).
 */
const slower = 1.05;

/**
 * The plan turned out to be lower: the next token comes after one of its periods, and the calls
 * were not refused because of the margin.
 */
const atLowerRate = (bucket: Bucket, periodMs: number): Bucket => {
  if (periodMs < slower * bucket.periodMs) return { ...bucket, periodMs };
  const { phase } = bucket;
  const calm: BurstPhase = phase.name === "spaced" ? { ...phase, factor: 1 } : phase;
  return { ...bucket, periodMs, tokens: 0, phase: calm };
};

/** The bucket at another time. If the clock went back, no time has passed. */
const bucketAt = (kept: Bucket, now: number, periodMs: number): Bucket => {
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

/** The bucket with the next token due after `waitMs` at the earliest. */
const heldFor = (bucket: Bucket, waitMs: number, periodMs: number): Bucket => ({
  ...bucket,
  tokens: Math.min(bucket.tokens, 1 - Math.min(longestHoldPeriods, waitMs / periodMs)),
});

/** The limits for calls to an endpoint. */
export interface RateLimit {
  /** Time to refill one token, in milliseconds. */
  readonly periodMs: number;
  /** Number of calls that the endpoint accepts at once, if configured. */
  readonly burst?: number | undefined;
  /**
   * Number of calls that may be sent at once: the burst, or the fraction of it that this tool may
   * use.
   */
  readonly mostBurst: number;
  /** Fraction of a token that allows one call while a higher plan is being tried. */
  readonly early?: number | undefined;
  /** ID of this process among the processes that share the bucket. */
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

/**
 * Returns a stored value if it is a bucket; undefined for anything else, so that learning starts
 * over.
 */
export const bucketOf = (kept: Kept | undefined): Bucket | undefined =>
  isBucket(kept) ? kept : undefined;

/** A pure function that decides when a call may be sent, or learns from its outcome. */
export type Decide<R> = (state: LimiterState, now: number, limit: RateLimit) => LimiterStep<R>;

/** What is known after a step, and the value now stored. */
export interface StepEnd<R> {
  readonly own: OwnState;
  readonly kept: Kept | undefined;
  readonly now: number;
  readonly result: R;
}

/**
 * Runs one step with a stored value; `state` is the same object as before if nothing needs to be
 * stored.
 */
export const keptStep = <R>(
  decide: Decide<R>,
  own: OwnState,
  kept: Kept | undefined,
  now: number,
  limit: RateLimit,
): { readonly state: Kept | undefined; readonly result: StepEnd<R> } => {
  const { state, result } = decide({ own, bucket: bucketOf(kept) }, now, limit);
  const after = state.bucket ?? kept;
  return { state: after, result: { own: state.own, kept: after, now, result } };
};

/** Whether a JSON value is a finite number; 1e999 is read as Infinity. */
const isNumber = (value: unknown): value is number => Number.isFinite(value);

/**
 * Lateness of our own timers that is compensated by sending the next call early, in milliseconds: a
 * stall of a busy machine (assumed).
 */
const latenessMs = 150;

/**
 * Minimum margin of a bucket without a burst: the variation of loopback and timers, in
 * milliseconds. Without it a burst of one has 7.2 refusals instead of 5.3, with 20 it is 2 % slower
 * (measured in virtual time).
 */
const leastMarginMs = 5;

/**
 * The same as a fraction of the period: costs 0.4 %, and is enough for connections with a few ms of
 * jitter. With none, or 2 %, a burst of one with other users is 2 or 6 % slower (measured in
 * virtual time).
 */
const marginPart = 0.004;

/**
 * Maximum margin, as a fraction of the period. With 6 % a burst of one is 1 % faster and has 4 more
 * refusals on average (measured in virtual time).
 */
const mostMarginPart = 0.25;

/**
 * A process that probes keeps others from probing for this long after each probe, in milliseconds:
 * longer than any usual answer takes.
 */
const proberMs = 3_000;

/**
 * A bucket counts as full (assumed) after an idle time of this many times the time in which the
 * known burst comes back.
 */
const surelyFull = 2;

const nothingSaved = ({ phase }: Bucket, { burst }: RateLimit): boolean =>
  phase.name === "spaced" || burst === 1;

/** Tokens that late timers may leave in the bucket, and that are then used at once. */
const latenessTokens = ({ burst, periodMs }: RateLimit): number =>
  Math.min(burst ?? Number.POSITIVE_INFINITY, Math.max(2, 1 + latenessMs / periodMs));

/** The minimum margin, in periods. */
const leastMargin = ({ periodMs }: RateLimit): number =>
  Math.max(leastMarginMs, marginPart * periodMs) / periodMs;

/**
 * Tokens that may accumulate: slightly fewer than all, because a call that is a moment too early is
 * refused.
 */
const capacityOf = (bucket: Bucket, limit: RateLimit): number => {
  if (nothingSaved(bucket, limit)) return 1;
  const late = latenessTokens(limit);
  if (limit.burst !== undefined) return Math.max(limit.mostBurst - leastMargin(limit), late);
  const known = Math.min(bucket.burst, limit.mostBurst) - leastMargin(limit);
  // The burst is known: no more than that is compensated.
  return bucket.phase.name === "found" ? Math.max(1, known) : Math.max(known, late);
};

/** Pause added to the period, in milliseconds, if a call that comes too early is refused. */
const marginMs = (bucket: Bucket, limit: RateLimit): number => {
  if (!nothingSaved(bucket, limit)) return 0;
  const factor = bucket.phase.name === "spaced" ? bucket.phase.factor : 1;
  return Math.min(mostMarginPart, leastMargin(limit) * factor) * limit.periodMs;
};

/**
 * The amount of a call that margins and rounding may take while the calls of a burst are counted.
 */
const rounding = (limit: RateLimit): number => 0.01 + 2 * leastMargin(limit);

/**
 * Calls of a burst, including those in progress: over time, `spent` falls as the tokens rise. A
 * bucket without other users never holds fewer.
 */
const counted = (bucket: Bucket, limit: RateLimit): number =>
  Math.min(bucket.tokens, capacityOf(bucket, limit)) + bucket.spent;

/** Whether calls are being tried. */
const isSearching = ({ name }: BurstPhase): boolean => name === "slow start" || name === "probing";

/**
 * A probe must be answered before the next token is due, otherwise it may take that token, and the
 * due call comes too early. If round trips are as long as the period, a token is always due, so
 * half of the period is reserved.
 */
const latestProbe = (roundTripMs: number, limit: RateLimit): number =>
  Math.max(0.5, 1 - Math.max(roundTripMs / limit.periodMs, rounding(limit)));

/**
 * Whether a call may be tried although its token is not due.
 *
 * @param underWay probes in progress
 * @param roundTripMs duration of the last probe
 */
const mayProbe = (
  bucket: Bucket,
  limit: RateLimit,
  underWay: number,
  roundTripMs: number,
): boolean => {
  if (bucket.tokens > latestProbe(roundTripMs, limit)) return false;
  const { phase, prober, burst } = bucket;
  // Two save most of the time of a search with long round trips; more would be refused together.
  const together = phase.name === "slow start" && burst >= 2 ? 2 : 1;
  const isFree = !prober || prober.id === limit.process || prober.agoMs > proberMs;
  const hasRoom = underWay < together && Math.round(counted(bucket, limit)) < limit.mostBurst;
  return isSearching(phase) && isFree && hasRoom;
};

/** After an idle time the bucket may be fuller than ever observed. */
const afterIdle = (bucket: Bucket): Bucket => {
  const { tokens: idle, phase, burst } = bucket;
  const again = phase.name === "resting" && idle > surelyFull * Math.max(1, burst);
  return { ...bucket, idle, ...(again ? { phase: { name: "probing" } } : {}) };
};

/** A probe succeeded, with this many others in progress. */
const probePassed = (bucket: Bucket, limit: RateLimit, underWay: number): Bucket => {
  const seen = Math.floor(counted(bucket, limit) - underWay + rounding(limit));
  if (seen <= bucket.burst) return bucket;
  const phase: BurstPhase = bucket.phase.name === "spaced" ? { name: "resting" } : bucket.phase;
  return { ...bucket, burst: seen, unprovedMs: 0, phase };
};

/**
 * A probe took the token of a due call, which was refused instead: the probe proved nothing.
 *
 * @param underWay probes in progress
 */
const probeOvertook = (bucket: Bucket, limit: RateLimit, underWay: number): Bucket => {
  const seen = Math.floor(counted(bucket, limit) - underWay + rounding(limit));
  const isTooMany = seen < bucket.burst;
  return { ...bucket, burst: isTooMany ? Math.max(1, bucket.burst - 1) : bucket.burst };
};

/** A probe was refused: the search ends. */
const probeRefused = (bucket: Bucket): Bucket => {
  if (!isSearching(bucket.phase)) return bucket;
  const wasFull = bucket.idle > surelyFull * Math.max(1, bucket.burst);
  const { prober: _, ...rest } = bucket;
  return { ...rest, phase: wasFull ? { name: "found", leftMs: foundMs } : { name: "resting" } };
};

const spaced = (factor: number): BurstPhase => ({ name: "spaced", leftMs: foundMs, factor });

/**
 * A call that should have had a saved-up token was refused: the bucket holds fewer, or others took
 * them.
 */
const savedRefused = (bucket: Bucket, limit: RateLimit): Bucket => {
  if (limit.burst !== undefined) return bucket;
  const seen = Math.floor(bucket.spent + rounding(limit));
  const burst = Math.max(1, seen, Math.floor(bucket.burst / 2));
  return { ...bucket, burst, phase: burst < 2 ? spaced(1) : { name: "resting" } };
};

/**
 * Refused although it was due: the call came a few milliseconds too early, or others made calls,
 * too.
 */
const dueRefused = (bucket: Bucket, limit: RateLimit): Bucket => {
  const { phase, burst } = bucket;
  if (phase.name === "spaced") return { ...bucket, phase: spaced(2 * phase.factor) };
  if (limit.burst !== undefined) {
    return limit.burst === 1 ? { ...bucket, phase: spaced(2) } : bucket;
  }
  if (burst < 2) return { ...bucket, phase: spaced(1) };
  // It may hold less than was compensated.
  return latenessTokens(limit) > burst
    ? { ...bucket, phase: { name: "found", leftMs: foundMs } }
    : bucket;
};
