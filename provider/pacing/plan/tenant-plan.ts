import { isObject } from "../../kernel/json.js";
import { type Plan, plans } from "../../service/settings/plans.js";
import type { Admission } from "../limiter/limiter-state.js";
import type { BucketStore, Kept } from "../stores/bucket-store.js";
import { planStep } from "./plan-guess.js";
import {
  countsAtFirst,
  earlyPart,
  type PlanEvent,
  type PlanLimits,
  type PlanState,
  type PlanStep,
  planAtFirst,
  type RateOnPlan,
} from "./plan-state.js";

export interface TenantPlanOptions {
  readonly store: BucketStore;
  /** Names the plan in the store. */
  readonly key: string;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** As configured. Left out: found out. */
  readonly plan?: Plan;
  /** Told once which plan it seems to be, if not the one that was to be expected. */
  readonly onGuess: (plan: Plan) => void;
}

/** What the limiter of one endpoint sees of the plan. */
export interface PlanGuess {
  /** Calls per second. */
  readonly rate: number;
  /** See `Limit.early`. */
  readonly early: number | undefined;
  /** Reads what earlier processes have found out; undefined: that is done. */
  load(): Promise<void> | undefined;
  accepted(kind: Admission["kind"]): void;
  /** @param isStrike the call was refused although the rate allowed it */
  refused(kind: Admission["kind"], isStrike: boolean): void | Promise<void>;
}

/** A guess is not believed for longer than this: plans are bought and given up. */
const believedMs = 24 * 60 * 60_000;
/** So many calls got through before a guess is told: a guess on the way down is over sooner. */
const toldAfter = 5;

const planOf = (value: unknown): Plan | undefined => plans.find((plan) => plan === value);

const stateOf = (kept: Kept | undefined, now: number): PlanState | undefined => {
  if (!isObject(kept) || Math.abs(now - Number(kept.at)) > believedMs) return undefined;
  const plan = planOf(kept.plan);
  const proved = planOf(kept.proved);
  const climbAfter = Number(kept.climbAfter);
  if (!plan || !(climbAfter > 0)) return undefined;
  return { plan, climbAfter, ...(proved ? { proved } : {}) };
};

/** The plan of one tenant, shared by its endpoints and, through the store, by its processes. */
export class TenantPlan {
  readonly #options: TenantPlanOptions;
  readonly #limits: PlanLimits;
  #step: PlanStep;
  #loading: Promise<void> | undefined;
  #loaded = false;
  #told = false;

  constructor(options: TenantPlanOptions) {
    this.#options = options;
    const highest = options.plan ?? plans[plans.length - 1] ?? "enterprise";
    this.#limits = { highest, isConfigured: options.plan !== undefined };
    this.#step = { state: planAtFirst(this.#limits), counts: countsAtFirst };
  }

  /** @param rate calls per second of the endpoint on each plan */
  forEndpoint(endpoint: string, rate: RateOnPlan): PlanGuess {
    const current = (): PlanStep => this.#step;
    const limits = this.#limits;
    const happened = (type: PlanEvent["type"]) =>
      this.#happened({ type, endpoint, rate, now: this.#options.now() });
    return {
      get rate() {
        return rate(current().state.plan);
      },
      get early() {
        return earlyPart(current(), limits, rate);
      },
      load: () => this.#load(),
      accepted: (kind) => void happened(kind === "early" ? "early accepted" : "accepted"),
      refused: (kind, isStrike) => {
        if (kind === "early") return happened("early refused");
        if (kind === "probe") return happened("probe refused");
        return isStrike ? happened("refused") : undefined;
      },
    };
  }

  #load(): Promise<void> | undefined {
    if (this.#loaded) return undefined;
    if (this.#loading) return this.#loading;
    const { store, key } = this.#options;
    const found = store.change(key, (kept, now) => ({ state: kept, result: stateOf(kept, now) }));
    const settle = (state: PlanState | undefined): void => {
      this.#loaded = true;
      if (state) this.#step = { ...this.#step, state };
    };
    if (!(found instanceof Promise)) {
      settle(found);
      return undefined;
    }
    this.#loading = found.then(settle);
    return this.#loading;
  }

  #happened(event: PlanEvent): void | Promise<void> {
    const before = this.#step.state;
    this.#step = planStep(this.#step, event, this.#limits);
    const { state, counts } = this.#step;
    const isLower = state.plan !== this.#limits.highest;
    if (!this.#told && isLower && counts.steady >= toldAfter) {
      this.#told = true;
      this.#options.onGuess(state.plan);
    }
    if (state === before) return;
    const { store, key } = this.#options;
    const kept = store.change(key, (_, now) => ({
      state: { ...state, at: now },
      result: undefined,
    }));
    return kept instanceof Promise ? kept : undefined;
  }
}
