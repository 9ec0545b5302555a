import { randomUUID } from "node:crypto";
import {
  bucketStep,
  type Decide,
  type LimitShare,
  type LimitUse,
  type Seen,
  type StepEnd,
} from "./bucket-step.js";
import {
  type Admission,
  type CallOutcome,
  type Delay,
  type EndpointLimiter,
  ownAtFirst,
  type Slept,
} from "./limiter/limiter-state.js";
import { afterOutcome } from "./limiter/outcome.js";
import { nextTurn } from "./limiter/turn.js";
import type { PlanRates } from "./plan/rate-rows.js";
import type { TenantPlan } from "./plan/tenant-plan.js";
import type { BucketStore } from "./stores/bucket-store.js";

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
