import { type Bucket, bucketAt, heldFor, unknownBucket } from "./bucket.js";
import {
  dueRefused,
  marginMs,
  probeOvertook,
  probePassed,
  probeRefused,
  savedRefused,
  searchedAgain,
} from "./burst-search.js";
import { firstAnswer } from "./first-answer.js";
import type {
  Admission,
  CallOutcome,
  LimiterState,
  LimiterStep,
  OwnState,
  PlanEvidence,
  RateLimit,
} from "./limiter-state.js";
import { afterAccepted, afterRefusal, pauseAsked } from "./refusal-pauses.js";

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
