import { bucketOf } from "./limiter/kept-bucket.js";
import type { LimiterState, LimiterStep, OwnState, RateLimit } from "./limiter/limiter-state.js";
import type { Allowed } from "./plan/tenant-plan.js";
import type { Kept, StoreChange } from "./stores/bucket-store.js";

/** What the pure part decides and learns. */
export type Decide<R> = (state: LimiterState, now: number, limit: RateLimit) => LimiterStep<R>;

/** What was last seen in the store. */
export interface Seen {
  readonly kept: Kept | undefined;
  readonly now: number;
}

/** What is known after a step. */
export interface StepEnd<R> {
  readonly own: OwnState;
  readonly seen: Seen;
  readonly result: R;
}

/** How much of the limit this tool may use. */
export interface LimitShare {
  /** Part of the rate, and of the burst, that may be used. */
  readonly share: number;
  /** Calls that the endpoint takes at once, where that is configured. */
  readonly burst?: number | undefined;
}

/** Who uses a limit, and how much of it. */
export interface LimitUse extends LimitShare {
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
export const bucketStep = <R>(
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
