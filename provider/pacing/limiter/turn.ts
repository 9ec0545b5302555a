import { type Bucket, bucketAt, type Limit, unknownBucket } from "./bucket.js";
import { capacityOf, isSearching, marginMs, mayProbe, wokenUp } from "./burst-search.js";
import type { Admission, LimiterState, OwnState, Slept, Step } from "./limiter-state.js";

/** Less than the timers can tell apart, in milliseconds. */
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
  limit: Limit,
): OwnState => {
  const isPause = bucket && now - bucket.at > Math.max(2 * limit.periodMs, quietMs);
  return isPause ? { ...own, window: 1, answered: false, left: undefined } : own;
};

const admitted = (
  own: OwnState,
  changes: Partial<OwnState>,
  bucket: Bucket,
  admission: Admission,
): Step => {
  const { kind, number } = admission;
  const underWay = { ...own.underWay, [kind]: own.underWay[kind] + 1 };
  return {
    state: { own: { ...own, underWay, admitted: number, ...changes }, bucket },
    decision: admission,
  };
};

const taken = (own: OwnState, full: Bucket, now: number, limit: Limit): Step => {
  const capacity = capacityOf(full, limit);
  const bucket = full.tokens > capacity + 1 ? wokenUp(full) : full;
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
  const admission = {
    kind,
    number: own.admitted + 1,
    at: now,
    tokens: full.tokens,
    unprovedMs: bucket.unprovedMs,
  } as const;
  return admitted(own, { takenAt: now, left: (own.left ?? tokens) - 1 }, rest, admission);
};

const probed = (own: OwnState, bucket: Bucket, limit: Limit): Step => {
  const number = own.admitted + 1;
  const prober = { id: limit.process, agoMs: 0 };
  const rest = { ...bucket, spent: bucket.spent + 1, prober };
  const admission = { kind: "probe", number, at: bucket.at, tokens: bucket.tokens } as const;
  const left = own.left ?? bucket.tokens;
  return admitted(own, { lastProbe: number, left }, rest, admission);
};

const sentEarly = (own: OwnState, bucket: Bucket, part: number): Step => {
  const rest = { ...bucket, tokens: bucket.tokens - part, spent: bucket.spent + part };
  const admission = {
    kind: "early",
    number: own.admitted + 1,
    at: bucket.at,
    tokens: part,
  } as const;
  return admitted(own, {}, rest, admission);
};

/** A call wants to go: whether it may, and how long it waits else. */
export const asked = (
  state: LimiterState,
  slept: Slept | undefined,
  clock: number,
  limit: Limit,
): Step => {
  const { periodMs } = limit;
  const kept = state.bucket;
  const roused = awake(state.own, clock, slept);
  const now = clock + roused.behindMs;
  const own = afterPause(roused, kept, now, limit);
  const untilDue = Math.min(periodMs, own.takenAt + periodMs - now);
  if (own.underWay.saved >= own.window && untilDue > 0) {
    return {
      state: { own, bucket: kept },
      decision: { waitMs: untilDue, mayEndEarly: true, at: clock },
    };
  }
  const bucket = bucketAt(kept ?? unknownBucket(now, periodMs), now, periodMs);
  const dueMs = (1 - bucket.tokens) * periodMs;
  if (dueMs <= closeEnoughMs) return taken(own, bucket, now, limit);
  if (mayProbe(bucket, limit, own.underWay.probe, own.roundTripMs))
    return probed(own, bucket, limit);
  // While a higher plan is tried, a part of a token is enough, for one call at a time.
  const mayTry = own.underWay.early === 0 && !isSearching(bucket.phase);
  const part = mayTry ? (limit.early ?? 1) : 1;
  const waitMs = dueMs - (1 - part) * periodMs;
  if (waitMs <= closeEnoughMs) return sentEarly(own, bucket, part);
  // Most questions change nothing; a clock that went back is kept, or its time would not count.
  const next = kept && kept.at <= now ? kept : bucket;
  const mayEndEarly = own.underWay.probe + own.underWay.early > 0;
  return { state: { own, bucket: next }, decision: { waitMs, mayEndEarly, at: clock } };
};
