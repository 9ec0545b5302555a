import { randomUUID } from "node:crypto";
import { bucketOf } from "./limiter/bucket.js";
import {
  type Admission,
  type CallOutcome,
  type Delay,
  type EndpointLimiter,
  type LimiterState,
  type LimiterStep,
  type OwnState,
  ownAtFirst,
  type RateLimit,
  type Slept,
} from "./limiter/limiter-state.js";
import { afterOutcome } from "./limiter/outcome.js";
import { nextTurn } from "./limiter/turn.js";
import type { PlanRates } from "./plan/rate-rows.js";
import type { Allowed, TenantPlan } from "./plan/tenant-plan.js";
import type { BucketStore, Kept, StoreChange } from "./stores/bucket-store.js";

export interface BucketLimiterOptions {
  readonly store: BucketStore;
  /** Names the bucket in the store. */
  readonly key: string;
  /** Which of the rates hold. */
  readonly plan: TenantPlan;
  readonly rates: PlanRates;
  /** Part of the rate, and of the burst, that may be used. */
  readonly share: number;
  readonly burst?: number | undefined;
}

/** What the pure part decides and learns. */
type Decide<R> = (state: LimiterState, now: number, limit: RateLimit) => LimiterStep<R>;

/** What was last seen in the store. */
interface Seen {
  readonly kept: Kept | undefined;
  readonly now: number;
}

interface Found<R> {
  readonly own: OwnState;
  readonly seen: Seen;
  readonly result: R;
}

/** Two machines' clocks do not run at quite the same speed: 500 ppm, the most that NTP makes up for (RFC 5905 §11.3). */
const driftPart = 1.0005;

/** An endpoint whose rate is known, with a bucket that others may share. */
export class BucketLimiter implements EndpointLimiter {
  readonly #options: BucketLimiterOptions;
  readonly #process = randomUUID();
  #own = ownAtFirst;
  #seen: Seen | undefined;
  /** A store may take its time, and each step needs what the one before has found. */
  #lastStep: Promise<unknown> = Promise.resolve();

  constructor(options: BucketLimiterOptions) {
    this.#options = options;
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
      const change: StoreChange<Found<R>> = (kept, now, part) => {
        const limit = this.#limit(allowed, part);
        const { state, result } = decide({ own: this.#own, bucket: bucketOf(kept) }, now, limit);
        const after = state.bucket ?? kept;
        return { state: after, result: { own: state.own, seen: { kept: after, now }, result } };
      };
      const seen = isOutcome ? this.#seen : undefined;
      const again = seen && change(seen.kept, seen.now, 1);
      const isSame = again !== undefined && again.state === seen?.kept;
      const found = isSame ? again.result : await store.change(key, change);
      this.#own = found.own;
      this.#seen = found.seen;
      return found.result;
    });
    this.#lastStep = done.catch(() => {});
    return done;
  }

  #limit({ rate, early }: Allowed, part: number): RateLimit {
    const { burst, share } = this.#options;
    const periodMs = ((1000 / (rate * share)) * driftPart) / part;
    // Of a burst that is not known, others are left all but one.
    const unknownBurst = share < 1 ? 1 : Number.POSITIVE_INFINITY;
    const mostBurst = burst === undefined ? unknownBurst : Math.max(1, Math.floor(burst * share));
    return { periodMs, burst, mostBurst, early, process: this.#process };
  }
}
