import { probed, sentEarly, taken } from "./admissions.js";
import { type Bucket, bucketAt, unknownBucket } from "./bucket.js";
import { isSearching, mayProbe } from "./burst-search.js";
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
