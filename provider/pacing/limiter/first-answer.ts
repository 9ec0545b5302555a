import type { Bucket } from "./bucket.js";
import { capacityOf } from "./burst-search.js";
import type { LimiterState, OwnState, RateLimit } from "./limiter-state.js";

type KnownState = LimiterState & { readonly bucket: Bucket };

/**
 * The first call after a pause arrives late: it fetches a token and connects. If the bucket was full
 * it took nothing in meanwhile, so what came back until this answer is not counted on.
 */
export const firstAnswer = (own: OwnState, bucket: Bucket, limit: RateLimit): KnownState => {
  if (own.isAnswered) return { own, bucket };
  const tokens = Math.min(bucket.tokens, capacityOf(bucket, limit));
  const left = Math.min(tokens, Math.max(0, own.tokensLeft ?? 0));
  const shifted = { ...bucket, tokens: left, spent: bucket.spent + tokens - left };
  return { own: { ...own, isAnswered: true }, bucket: tokens > left ? shifted : bucket };
};
