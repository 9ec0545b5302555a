import { randomUUID } from "node:crypto";
import {
  afterIdle,
  type Bucket,
  bucketAt,
  bucketOf,
  capacityOf,
  dueRefused,
  heldFor,
  isSearching,
  marginMs,
  mayProbe,
  probeOvertook,
  probePassed,
  probeRefused,
  type RateLimit,
  savedRefused,
  searchedAgain,
  unknownBucket,
} from "./bucket.js";
import type { BucketStore, Kept, StoreChange } from "./bucket-store.js";
import type { PlanRates } from "./plan-rates.js";
import type { Allowed, PlanEvidence, TenantPlan } from "./tenant-plan.js";

export interface BucketLimiterOptions extends LimitShare {
  readonly store: BucketStore;
  /** Names the bucket in the store. */
  readonly key: string;
  /** Which of the rates hold. */
  readonly plan: TenantPlan;
  readonly rates: PlanRates;
}

/** An endpoint whose rate is known, with a bucket that others may share. */
export class BucketLimiter implements EndpointLimiter {
  readonly #options: BucketLimiterOptions;
  readonly #use: LimitUse;
  #own = ownAtFirst;
  #seen: Seen | undefined;
  /** A store may take its time, and each step needs what the one before has found. */
  #lastStep: Promise<unknown> = Promise.resolve();

  constructor(options: BucketLimiterOptions) {
    this.#options = options;
    this.#use = { share: options.share, burst: options.burst, process: randomUUID() };
  }

  ask(slept?: Slept): Promise<Admission | Delay> {
    return this.#step((state, now, limit) => nextTurn(state, slept, now, limit), false);
  }

  async ended(admission: Admission, outcome: CallOutcome): Promise<void> {
    const { plan, key, rates } = this.#options;
    const evidence = await this.#step(
      (state, now, limit) => afterOutcome(state, admission, outcome, now, limit),
      true,
    );
    if (evidence) await plan.learn(evidence, key, rates);
  }

  /** @param isOutcome many change nothing of the bucket, and then the store is not asked */
  #step<R>(decide: Decide<R>, isOutcome: boolean): Promise<R> {
    const { store, key, plan, rates } = this.#options;
    const done = this.#lastStep.then(async () => {
      const allowed = await plan.allowed(rates);
      const change = bucketStep(decide, this.#own, allowed, this.#use);
      const seen = isOutcome ? this.#seen : undefined;
      const again = seen && change(seen.kept, seen.now, 1);
      const isSame = again !== undefined && again.state === seen?.kept;
      const found: StepEnd<R> = isSame ? again.result : await store.change(key, change);
      this.#own = found.own;
      this.#seen = found.seen;
      return found.result;
    });
    this.#lastStep = done.catch(() => {});
    return done;
  }
}

/** What the pure part decides and learns. */
type Decide<R> = (state: LimiterState, now: number, limit: RateLimit) => LimiterStep<R>;

/** What was last seen in the store. */
interface Seen {
  readonly kept: Kept | undefined;
  readonly now: number;
}

/** What is known after a step. */
interface StepEnd<R> {
  readonly own: OwnState;
  readonly seen: Seen;
  readonly result: R;
}

/** How much of the limit this tool may use. */
interface LimitShare {
  /** Part of the rate, and of the burst, that may be used. */
  readonly share: number;
  /** Calls that the endpoint takes at once, where that is configured. */
  readonly burst?: number | undefined;
}

/** Who uses a limit, and how much of it. */
interface LimitUse extends LimitShare {
  /** Names this process among those that share the bucket. */
  readonly process: string;
}

/** Two machines' clocks do not run at quite the same speed: 500 ppm, the most that NTP makes up for (RFC 5905 §11.3). */
const driftPart = 1.0005;

const limitOf = ({ rate, early }: Allowed, { burst, share, process }: LimitUse): RateLimit => {
  const periodMs = (1000 / (rate * share)) * driftPart;
  // Of a burst that is not known, others are left all but one.
  const unknownBurst = share < 1 ? 1 : Number.POSITIVE_INFINITY;
  const mostBurst = burst === undefined ? unknownBurst : Math.max(1, Math.floor(burst * share));
  return { periodMs, burst, mostBurst, early, process };
};

/**
 * One decision as a step of the store.
 *
 * @param own what this process knows; the step may be done again, and then with the same
 */
const bucketStep = <R>(
  decide: Decide<R>,
  own: OwnState,
  allowed: Allowed,
  use: LimitUse,
): StoreChange<StepEnd<R>> => {
  const whole = limitOf(allowed, use);
  return (kept, now, part) => {
    const limit = { ...whole, periodMs: whole.periodMs / part };
    const { state, result } = decide({ own, bucket: bucketOf(kept) }, now, limit);
    const after = state.bucket ?? kept;
    return { state: after, result: { own: state.own, seen: { kept: after, now }, result } };
  };
};

/** What one process remembers of refusals on one endpoint. */
interface Refusals {
  /** Since a call got through. */
  readonly inRow: number;
  /** Short pauses that may still be tried. */
  readonly shortLeft: number;
  /** Calls that got through since the last refusal. */
  readonly acceptedSince: number;
  /** Ever. */
  readonly wasRefused: boolean;
}

const noRefusals: Refusals = { inRow: 0, shortLeft: 0, acceptedSince: 0, wasRefused: false };

/** Leave to send one call now. */
export interface Admission {
  /**
   * `due`: its token came back at the limit's rate. `saved`: saved up before. `probe`: to find out
   * whether more is saved up. `early`: to find out whether the rate is higher.
   */
  readonly kind: "due" | "saved" | "probe" | "early";
  /** Counts the admissions of this process. */
  readonly number: number;
  /** The store's time, in milliseconds. */
  readonly at: number;
  /** Tokens that were due before. */
  readonly tokens: number;
  /** See {@link Bucket}: how it was before this call, which proves nothing if it is refused. */
  readonly unprovedMs?: number;
}

/** Not now. */
export interface Delay {
  /** Infinite: until an answer comes. */
  readonly waitMs: number;
  /** Time in which one token comes back: how much longer each further call waits, in milliseconds. */
  readonly periodMs: number;
  /** An answer that is on its way may end the wait before. */
  readonly mayEndEarly: boolean;
  /** The store's time, in milliseconds. */
  readonly at: number;
}

/** A delay that was slept in full. */
export interface Slept {
  readonly ms: number;
  /** The store's time before, in milliseconds. */
  readonly since: number;
}

/** How a call ended. `ended`: without an answer, or it was never sent. */
export type CallOutcome =
  | { readonly type: "accepted" | "ended" }
  /** `askedMs`: pause that the service asks for, in milliseconds. */
  | { readonly type: "refused"; readonly askedMs?: number | undefined };

/** Decides for one endpoint when calls go, and learns from how they end. */
export interface EndpointLimiter {
  /** @param slept the last delay, where it was slept in full */
  ask(slept?: Slept): Admission | Delay | Promise<Admission | Delay>;
  ended(admission: Admission, outcome: CallOutcome): void | Promise<void>;
}

/** What one process keeps for itself. */
interface OwnState {
  readonly underWay: Readonly<Record<Admission["kind"], number>>;
  readonly admitted: number;
  /** Numbers of the last probe, of the last call before calls were held back, and before any refusal. */
  readonly lastProbe: number;
  readonly heldAt: number;
  readonly refusedAt: number;
  /** Saved-up calls that may be under way together: 1, 2, 4, 8 while they get through. */
  readonly window: number;
  /** The store's time of the last call that was no probe. */
  readonly takenAt: number;
  /** Time that the last probe took, in milliseconds. */
  readonly roundTripMs: number;
  /** The store's clock stood still for so long while this process slept, in milliseconds. */
  readonly behindMs: number;
  /** Since a pause: a call was answered, and tokens that were left of those there at first. */
  readonly isAnswered: boolean;
  readonly tokensLeft: number | undefined;
  readonly refusals: Refusals;
  /** Part of a period by which calls go out late, in the mean. */
  readonly lateness: number;
  readonly wasDoubted: boolean;
}

/** All that decides; `bucket` is shared with other processes. */
export interface LimiterState {
  readonly own: OwnState;
  readonly bucket: Bucket | undefined;
}

/** The next state, in which `bucket` is the very same value where nothing has to be kept, and what follows. */
interface LimiterStep<R> {
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

/** Less than timers can resolve, as they fire by whole milliseconds. */
const closeEnoughMs = 0.05;

/** A pause, after which connections are made anew: longer than this, as servers close idle ones, and two periods; in milliseconds. */
const quietMs = 10_000;

/** A clock that stands still, or goes back, while this process sleeps must not hold it up. */
const awake = (own: OwnState, now: number, slept: Slept | undefined): OwnState => {
  if (!slept) return own;
  const missingMs = slept.ms - (now - slept.since);
  // Further back than was slept: another clock, as the store was replaced.
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
 * A call wants to go: whether it may, and how long it waits else.
 *
 * A token that has come back at the rate of the limit is certain. Whether more were saved up before is
 * found by probes until one is refused: mostly the only refusal of an endpoint that nobody else uses.
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
  // While a higher plan is tried, a part of a token is enough, for one call at a time.
  const part = early === 0 && !isSearching(bucket.phase) ? (limit.early ?? 1) : 1;
  const waitMs = dueMs - (1 - part) * periodMs;
  if (waitMs <= closeEnoughMs) return sentEarly(own, bucket, part);
  // Most questions change nothing; a clock that went back is kept, or its time would not count.
  return delayed(kept && kept.at <= now ? kept : bucket, waitMs, probe + early > 0);
};

/** Tokens from which a call is one of those saved up: a burst of two, but for the margin. */
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

/** A token that is there is taken. */
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

/** A call is tried, to find out the burst. */
const probed = (own: OwnState, bucket: Bucket, { process }: RateLimit) => {
  const { at, tokens, spent } = bucket;
  const rest = { ...bucket, spent: spent + 1, prober: { id: process, agoMs: 0 } };
  const changes = { lastProbe: own.admitted + 1, tokensLeft: own.tokensLeft ?? tokens };
  return admitted(own, rest, { kind: "probe", at, tokens }, changes);
};

/** A call goes sooner than the plan allows, as a higher one is tried. */
const sentEarly = (own: OwnState, bucket: Bucket, part: number) => {
  const rest = { ...bucket, tokens: bucket.tokens - part, spent: bucket.spent + part };
  return admitted(own, rest, { kind: "early", at: bucket.at, tokens: part }, {});
};

/** Saved-up calls under way together, at most: the connections of the transport's pool. */
const mostSavedUnderWay = 8;

/**
 * So much of a period lost to lateness in the mean is worth another refusal to be sure. Without it a
 * bucket of 20 that was taken for one of 1 is 47 % slower on late timers (measured in virtual time).
 */
const doubtPart = 0.1;

/** Calls over which lateness is averaged, and that must have got through before it counts. */
const doubtAfter = 50;

/** A moving mean. */
const meanLateness = ({ lateness }: OwnState, lateTokens: number): number =>
  lateness + (Math.min(1, Math.max(0, lateTokens)) - lateness) / doubtAfter;

/**
 * A machine that stalls makes an empty bucket look like one that saves up nothing, and then all of its
 * lateness is lost. Where that is much, what was found is tested again, once.
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
  // Redis was emptied meanwhile.
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
    return { own: { ...next, wasDoubted: true }, bucket: searchedAgain(current()) };
  }
  return next.isAnswered ? { own: next, bucket: kept } : firstAnswer(next, current(), limit);
};

/** The call took no token at the service: an early one is given back the part that it was sent for. */
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
  // A probe that was sent after a due call may have come first and had its token.
  const wasOvertaken = kind === "due" && own.lastProbe > number;
  if (kind === "probe" || wasOvertaken) {
    const counted = wasOvertaken ? probeOvertook(given, limit, own.underWay.probe) : given;
    const state = probeWasRefused(own, probeRefused(counted), askedMs, limit);
    return { state, result: wasOvertaken ? undefined : "probe refused" };
  }
  // Calls that were under way together are refused together: that is one refusal, not many.
  if (number <= own.heldAt) return { state: { own, bucket: given }, result: undefined };
  return { state: turnRefused(own, bucket, admission, askedMs, limit), result: "refused" };
};

/** A call has ended: what is known after, and what it says of the plan. */
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
  // Sent before the last refusal: says nothing of the rate since.
  const isOld = number <= before.refusedAt;
  return { state: accepted(state, admission, now, limit), result: isOld ? undefined : evidence };
};

type KnownState = LimiterState & { readonly bucket: Bucket };

/**
 * The first call after a pause arrives late: it fetches a token and connects. If the bucket was full
 * it took nothing in meanwhile, so what came back until this answer is not counted on.
 */
const firstAnswer = (own: OwnState, bucket: Bucket, limit: RateLimit): KnownState => {
  if (own.isAnswered) return { own, bucket };
  const tokens = Math.min(bucket.tokens, capacityOf(bucket, limit));
  const left = Math.min(tokens, Math.max(0, own.tokensLeft ?? 0));
  const shifted = { ...bucket, tokens: left, spent: bucket.spent + tokens - left };
  return { own: { ...own, isAnswered: true }, bucket: tokens > left ? shifted : bucket };
};

/**
 * So many calls got through since the last refusal that it counts as rare. With 2 a bucket that others
 * use, too, refuses 25 % more calls; with 32 nothing changes (measured in virtual time).
 */
const rareAfter = 8;

/**
 * A near miss is over after a moment: the two short pauses, in periods. Without them a burst of one
 * takes 1.34 times as long (measured in virtual time).
 */
const shortPauses = [0.02, 0.12] as const;

/**
 * Longest pause of our own, in periods: 8 s at one call a second (specification §8.1 rule 6). With 2 a
 * burst of one that others use, too, takes 22 % longer (measured in virtual time).
 */
const mostPeriods = 8;

/**
 * Spreads pauses from 75 to 125 %, by the golden ratio as evenly as can be, so that they do not fall in
 * step with somebody else's regular calls.
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
 * After the refusal of a due call: two short pauses where it may have been a near miss, then 1, 2, 4,
 * 8 periods.
 *
 * @param isSpaced the bucket saves up nothing, so near misses are no surprise
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

/** A header that says whole seconds may say up to a second too much, in milliseconds. */
const wholeMs = 1000;

/** Longest wait that is believed at all, in periods; the same as {@link longestRetryAfterMs}. */
const mostBelieved = 16;

/**
 * The pause after a refusal where the service asks for another: its word counts as far as it can be
 * true. A bucket gives a token back within a period, so a longer wait is at first taken for a mistake,
 * then believed for 1, 2, 4, 8, 16 periods while the calls are still refused.
 *
 * @param ownMs what would be waited without a word of the service
 * @param askedMs what the service asks for
 * @param inRow refusals since a call got through, this one included
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
  const most = Math.min(mostBelieved, 2 ** Math.max(0, inRow - 2)) * periodMs;
  const atLeastMs = Math.min(askedMs - inexact, most);
  return Math.min(Math.max(ownMs, atLeastMs), Math.min(askedMs, most));
};
