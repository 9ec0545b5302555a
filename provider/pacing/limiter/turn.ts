import { type Bucket, bucketAt, unknownBucket } from "./bucket.js";
import { afterIdle, capacityOf, isSearching, marginMs, mayProbe } from "./burst-search.js";
import type {
  Admission,
  Delay,
  LimiterState,
  LimiterStep,
  OwnState,
  RateLimit,
  Slept,
} from "./limiter-state.js";

/** Less than timers can tell apart, as they fire by whole milliseconds. */
const closeEnoughMs = 0.05;

/** A pause, after which connections are made anew: longer than this, as servers close idle ones, and two periods; in milliseconds. */
const quietMs = 10_000;

/** Tokens from which a call is one of those saved up: a burst of two, but for the margin. */
const savedFrom = 1.8;

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

const probed = (own: OwnState, bucket: Bucket, { process }: RateLimit) => {
  const { at, tokens, spent } = bucket;
  const rest = { ...bucket, spent: spent + 1, prober: { id: process, agoMs: 0 } };
  const changes = { lastProbe: own.admitted + 1, tokensLeft: own.tokensLeft ?? tokens };
  return admitted(own, rest, { kind: "probe", at, tokens }, changes);
};

const sentEarly = (own: OwnState, bucket: Bucket, part: number) => {
  const rest = { ...bucket, tokens: bucket.tokens - part, spent: bucket.spent + part };
  return admitted(own, rest, { kind: "early", at: bucket.at, tokens: part }, {});
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
