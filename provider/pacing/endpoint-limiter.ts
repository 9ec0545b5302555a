import { randomUUID } from "node:crypto";
import type { Clock } from "../kernel/clock.js";
import { type BackOffState, backOff, backOffAtFirst } from "./limiter/back-off.js";
import type { Limit } from "./limiter/bucket.js";
import { bucketOf } from "./limiter/bucket-shape.js";
import { step } from "./limiter/limiter.js";
import {
  type Admission,
  type Decision,
  type LimiterEvent,
  type OwnState,
  ownAtFirst,
  type Slept,
  type Step,
  type Wait,
} from "./limiter/limiter-state.js";
import type { PlanGuess } from "./plan/tenant-plan.js";
import type { BucketStore, Changed, Kept } from "./stores/bucket-store.js";

/** Decides for one endpoint when calls go, and learns from the answers. */
export interface EndpointLimiter {
  /** Time in which one token comes back, in milliseconds: how long each caller in a queue waits. */
  readonly periodMs: number;
  /** @param slept the last wait, where it was slept in full */
  ask(slept?: Slept): Admission | Wait | Promise<Admission | Wait>;
  accepted(admission: Admission): void | Promise<void>;
  /** The call ended without an answer, or was never sent. */
  ended(admission: Admission): void | Promise<void>;
  /** @param askedMs pause that the service asks for */
  refused(admission: Admission, askedMs: number | undefined): void | Promise<void>;
}

/** Two machines' clocks do not run at quite the same speed. */
const driftPart = 1.0005;

/** Without a rate nobody knows how long it takes; the first pause after a refusal. */
const unknownPeriodMs = 1_000;

const isTurn = (decision: Decision): decision is Admission | Wait => typeof decision === "object";

const turnOf = (decision: Decision): Admission | Wait => {
  if (isTurn(decision)) return decision;
  throw new Error("The limiter did not say whether a call may go.");
};

/** An endpoint whose rate is not known, for this process alone. */
export const unlimitedUntilRefused = (clock: Pick<Clock, "now">): EndpointLimiter => {
  let state: BackOffState = backOffAtFirst;
  const happened = (event: LimiterEvent): Decision => {
    const next = backOff(state, event, clock.now());
    state = next.state;
    return next.decision;
  };
  return {
    periodMs: unknownPeriodMs,
    ask: (slept) => turnOf(happened({ type: "ask", slept })),
    accepted: (admission) => void happened({ type: "accepted", admission }),
    ended: (admission) => void happened({ type: "ended", admission }),
    refused: (admission, askedMs) =>
      void happened({
        type: "refused",
        admission,
        ...(askedMs === undefined ? {} : { askedMs }),
      }),
  };
};

export interface BucketLimiterOptions {
  readonly store: BucketStore;
  /** Names the bucket in the store. */
  readonly key: string;
  /** Calls per second that may be made, plan by plan; the part of them that this tool may use. */
  readonly plan: PlanGuess;
  readonly burst?: number;
  readonly share: number;
}

/** Calls that may be made at once: of a burst that is not known, others are left all but one. */
const mostBurstOf = ({ burst, share }: BucketLimiterOptions): number => {
  if (burst !== undefined) return Math.max(1, Math.floor(burst * share));
  return share < 1 ? 1 : Number.POSITIVE_INFINITY;
};

/** An endpoint whose rate is known, with a bucket that others may share. */
export class BucketLimiter implements EndpointLimiter {
  readonly #options: BucketLimiterOptions;
  readonly #mostBurst: number;
  readonly #process = randomUUID();
  #own: OwnState = ownAtFirst;
  #limit: Limit | undefined;
  /** What was last seen in the store: many answers change nothing of it, and then it is not asked. */
  #seen: { readonly state: Kept | undefined; readonly now: number } | undefined;
  /** The step that is under way in a store that takes its time; the next ones wait for it. */
  #underWay: Promise<unknown> | undefined;
  /** Calls up to this number were sent before the last refusal. */
  #refusedAt = 0;

  constructor(options: BucketLimiterOptions) {
    this.#options = options;
    this.#mostBurst = mostBurstOf(options);
  }

  get periodMs(): number {
    const { plan, share } = this.#options;
    return (1000 / (plan.rate * share)) * driftPart;
  }

  ask(slept?: Slept): Admission | Wait | Promise<Admission | Wait> {
    const event = { type: "ask", slept } as const;
    const loading = this.#options.plan.load();
    const decision = loading ? loading.then(() => this.#happened(event)) : this.#happened(event);
    return decision instanceof Promise ? decision.then(turnOf) : turnOf(decision);
  }

  accepted(admission: Admission): void | Promise<void> {
    const { plan } = this.#options;
    // Sent before the last refusal: says nothing of the rate since.
    if (admission.number > this.#refusedAt) plan.accepted(admission.kind);
    return this.#answered({ type: "accepted", admission });
  }

  ended(admission: Admission): void | Promise<void> {
    return this.#answered({ type: "ended", admission });
  }

  refused(admission: Admission, askedMs: number | undefined): void | Promise<void> {
    this.#refusedAt = this.#own.admitted;
    const asked = askedMs === undefined ? {} : { askedMs };
    const decision = this.#happened({ type: "refused", admission, ...asked });
    const settle = (found: Decision) =>
      this.#options.plan.refused(admission.kind, found === "strike");
    return decision instanceof Promise ? decision.then(settle) : settle(decision);
  }

  #answered(event: LimiterEvent): void | Promise<void> {
    const seen = this.#seen;
    if (seen && !this.#underWay) {
      const { state, result } = this.#change(event, seen.state, seen.now, 1);
      if (state === seen.state) {
        this.#own = result.state.own;
        return;
      }
    }
    const done = this.#happened(event);
    if (done instanceof Promise) return done.then(() => {});
  }

  #change(event: LimiterEvent, kept: Kept | undefined, now: number, part: number): Changed<Step> {
    const limit = this.#limitAt(this.periodMs / part);
    const result = step({ own: this.#own, bucket: bucketOf(kept) }, event, now, limit);
    return { state: result.state.bucket ?? kept, result };
  }

  /** Made anew only where the plan or the store was changed. */
  #limitAt(periodMs: number): Limit {
    const { burst, plan } = this.#options;
    const { early } = plan;
    const { periodMs: before, early: earlyBefore } = this.#limit ?? {};
    if (this.#limit && before === periodMs && earlyBefore === early) return this.#limit;
    this.#limit = {
      periodMs,
      mostBurst: this.#mostBurst,
      process: this.#process,
      ...(burst === undefined ? {} : { burst }),
      ...(early === undefined ? {} : { early }),
    };
    return this.#limit;
  }

  /** One after the other, since each step needs what the one before has found. */
  #happened(event: LimiterEvent): Decision | Promise<Decision> {
    if (this.#underWay) return this.#after(this.#underWay.then(() => this.#stored(event)));
    const decision = this.#stored(event);
    return decision instanceof Promise ? this.#after(decision) : decision;
  }

  #after(decision: Promise<Decision>): Promise<Decision> {
    const underWay = decision
      .catch(() => {})
      .finally(() => {
        if (this.#underWay === underWay) this.#underWay = undefined;
      });
    this.#underWay = underWay;
    return decision;
  }

  #stored(event: LimiterEvent): Decision | Promise<Decision> {
    const { store, key } = this.#options;
    const found = store.change(key, (kept, now, part) => {
      const { state, result } = this.#change(event, kept, now, part);
      return { state, result: { result, seen: { state, now } } };
    });
    const settle = ({ result, seen }: Awaited<typeof found>): Decision => {
      this.#own = result.state.own;
      this.#seen = seen;
      return result.decision;
    };
    return found instanceof Promise ? found.then(settle) : settle(found);
  }
}
