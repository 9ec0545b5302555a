import type { Bucket } from "./bucket.js";
import { afterIdle, capacityOf, marginMs } from "./burst-search.js";
import type { Admission, LimiterStep, OwnState, RateLimit } from "./limiter-state.js";

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
export const taken = (own: OwnState, full: Bucket, now: number, limit: RateLimit) => {
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
export const probed = (own: OwnState, bucket: Bucket, { process }: RateLimit) => {
  const { at, tokens, spent } = bucket;
  const rest = { ...bucket, spent: spent + 1, prober: { id: process, agoMs: 0 } };
  const changes = { lastProbe: own.admitted + 1, tokensLeft: own.tokensLeft ?? tokens };
  return admitted(own, rest, { kind: "probe", at, tokens }, changes);
};

/** A call goes sooner than the plan allows, as a higher one is tried. */
export const sentEarly = (own: OwnState, bucket: Bucket, part: number) => {
  const rest = { ...bucket, tokens: bucket.tokens - part, spent: bucket.spent + part };
  return admitted(own, rest, { kind: "early", at: bucket.at, tokens: part }, {});
};
