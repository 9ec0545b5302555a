import { type Bucket, bucketAt, heldFor, type Limit, unknownBucket } from "./bucket.js";
import {
  capacityOf,
  doubted,
  dueRefused,
  marginMs,
  probeOvertook,
  probePassed,
  probeRefused,
  savedRefused,
} from "./burst-search.js";
import {
  type Admission,
  counting,
  type LimiterState,
  type OwnState,
  type Step,
} from "./limiter-state.js";
import { passed, pauseAsked, refusedAgain } from "./refusal-pauses.js";

/** Saved-up calls under way together, at most: what a connection pool sends at once. */
const mostSavedUnderWay = 8;

/** So much of a period lost to lateness in the mean is worth another refusal to be sure. */
const doubtPart = 0.1;
/** Calls over which lateness is averaged, and that must have got through before it counts. */
const doubtAfter = 50;

/**
 * The first call after a pause arrives late: it fetches a token and connects. If the bucket was full
 * it took nothing in meanwhile, so what came back until this answer is not counted on.
 */
const firstAnswer = (own: OwnState, bucket: Bucket, limit: Limit): LimiterState => {
  if (own.answered) return { own, bucket };
  const tokens = Math.min(bucket.tokens, capacityOf(bucket, limit));
  const left = Math.min(tokens, Math.max(0, own.left ?? 0));
  const shifted = { ...bucket, tokens: left, spent: bucket.spent + tokens - left };
  return { own: { ...own, answered: true }, bucket: tokens > left ? shifted : bucket };
};

/** A moving mean. */
const later = ({ lateness }: OwnState, lateTokens: number): number =>
  lateness + (Math.min(1, Math.max(0, lateTokens)) - lateness) / doubtAfter;

/**
 * A machine that stalls makes an empty bucket look like one that saves up nothing, and then all of its
 * lateness is lost. Where that is much, what was found is tested again, once.
 */
const lateAgain = (own: OwnState, { burst }: Limit, { phase }: Bucket): boolean =>
  phase.name === "spaced" &&
  burst === undefined &&
  !own.doubted &&
  own.refusals.good >= doubtAfter &&
  own.lateness >= doubtPart;

/** A call got through. */
export const accepted = (
  { own: before, bucket: kept }: LimiterState,
  { kind, tokens, at }: Admission,
  now: number,
  limit: Limit,
): LimiterState => {
  // Redis was emptied meanwhile.
  if (!kept) return { own: counting(before, kind, -1), bucket: kept };
  const current = () => bucketAt(kept, Math.max(now, kept.at), limit.periodMs);
  if (kind === "probe") {
    const own = { ...counting(before, kind, -1), roundTripMs: Math.max(0, now - at) };
    return firstAnswer(own, probePassed(current(), limit, own.underWay.probe), limit);
  }
  const next: OwnState = {
    ...before,
    underWay: { ...before.underWay, [kind]: before.underWay[kind] - 1 },
    window: kind === "saved" ? Math.min(before.window + 1, mostSavedUnderWay) : before.window,
    refusals: passed(before.refusals),
    lateness: kind === "early" ? before.lateness : later(before, tokens - 1),
  };
  if (lateAgain(next, limit, kept)) {
    return { own: { ...next, doubted: true }, bucket: doubted(current()) };
  }
  return next.answered ? { own: next, bucket: kept } : firstAnswer(next, current(), limit);
};

/** The call took no token at the service: an early one is given back the part that it was sent for. */
const refunded = (bucket: Bucket, { kind, tokens }: Admission): Bucket => {
  const part = kind === "early" ? tokens : 1;
  const given = kind === "early" ? bucket.tokens + part : bucket.tokens;
  return { ...bucket, tokens: given, spent: Math.max(0, bucket.spent - part) };
};

const probeWasRefused = (
  own: OwnState,
  bucket: Bucket,
  askedMs: number | undefined,
  limit: Limit,
): LimiterState => {
  const next = firstAnswer(own, bucket, limit);
  if (!next.bucket) return next;
  const { periodMs } = limit;
  const ownMs = Math.max(0, 1 - next.bucket.tokens) * periodMs;
  const waitMs = pauseAsked(ownMs, askedMs, 1, periodMs);
  return {
    own: next.own,
    bucket: waitMs > ownMs ? heldFor(next.bucket, waitMs, periodMs) : next.bucket,
  };
};

const turnRefused = (
  own: OwnState,
  before: Bucket,
  admission: Admission,
  askedMs: number | undefined,
  limit: Limit,
): LimiterState => {
  const { periodMs } = limit;
  const isSpaced = before.phase.name === "spaced";
  const { refusals, pausePeriods, isNearMiss } = refusedAgain(own.refusals, isSpaced);
  const held = { ...own, refusals, heldAt: own.admitted, window: 1 };
  const { kind, unprovedMs = 0 } = admission;
  const given: Bucket = {
    ...refunded(before, admission),
    tokens: before.tokens + 1,
    idle: 0,
    unprovedMs,
  };
  const missed = isNearMiss ? dueRefused(given, limit) : given;
  const bucket = kind === "saved" ? savedRefused(given, limit) : missed;
  const ownPeriods = kind === "saved" ? 1 : pausePeriods;
  const ownMs = Math.max(2 * marginMs(bucket, limit), ownPeriods * periodMs);
  const waitMs = pauseAsked(ownMs, askedMs, refusals.inRow, periodMs);
  return { own: held, bucket: heldFor(bucket, waitMs, periodMs) };
};

/** A call was refused. */
export const refused = (
  { own: earlier, bucket: kept }: LimiterState,
  admission: Admission,
  askedMs: number | undefined,
  now: number,
  limit: Limit,
): Step => {
  const own = counting(earlier, admission.kind, -1);
  const before = kept ?? unknownBucket(now, limit.periodMs);
  const bucket = bucketAt(before, Math.max(now, before.at), limit.periodMs);
  const given = refunded(bucket, admission);
  if (admission.kind === "early") {
    return { state: probeWasRefused(own, given, askedMs, limit), decision: undefined };
  }
  // A probe that was sent after a due call may have come first and had its token.
  const wasOvertaken = admission.kind === "due" && own.lastProbe > admission.number;
  if (admission.kind === "probe" || wasOvertaken) {
    const counted = wasOvertaken ? probeOvertook(given, limit, own.underWay.probe) : given;
    const ended = probeRefused(counted);
    return { state: probeWasRefused(own, ended, askedMs, limit), decision: undefined };
  }
  // Calls that were under way together are refused together: that is one refusal, not many.
  if (admission.number <= own.heldAt) {
    return { state: { own, bucket: given }, decision: undefined };
  }
  return { state: turnRefused(own, bucket, admission, askedMs, limit), decision: "strike" };
};
