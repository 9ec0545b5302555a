import type { Clock } from "../../kernel/clock.js";
import { isObject } from "../../kernel/json.js";
import { type Plan, plans } from "../../service/setting-table.js";
import type { PlanEvidence } from "../limiter/limiter-state.js";
import type { BucketStore, Kept } from "../stores/bucket-store.js";
import {
  afterEvidence,
  higher,
  type PlanGuess,
  type PlanLimits,
  type PlanState,
  planAtFirst,
} from "./plan-guess.js";
import type { PlanRates } from "./rate-rows.js";

export interface TenantPlanOptions {
  readonly store: BucketStore;
  /** Names the plan in the store. */
  readonly key: string;
  readonly clock: Pick<Clock, "now">;
  /** As configured. Left out: found out. */
  readonly plan?: Plan | undefined;
  /** Told once which plan it seems to be, if not the one that was to be expected. */
  readonly onGuess?: ((plan: Plan) => void) | undefined;
}

/** What the plan allows on an endpoint. */
export interface Allowed {
  /** Calls per second. */
  readonly rate: number;
  /** See `EndpointLimit.early`. */
  readonly early: number | undefined;
}

/** A guess is not believed for longer than this: plans are bought and given up. */
const believedMs = 24 * 60 * 60_000;
/** So many calls got through before a guess is told: a guess on the way down is over sooner. */
const reportedAfter = 5;

/**
 * A higher plan is tried a little later than its rate allows: a near miss would look like a refusal. At
 * once, a burst of one that others use, too, takes up to 1.5 times as long (measured in virtual time).
 */
const earlySlack = 1.1;

const planOf = (value: unknown): Plan | undefined => plans.find((plan) => plan === value);

const stateOf = (kept: Kept | undefined, now: number): PlanState | undefined => {
  if (!isObject(kept) || Math.abs(now - Number(kept.at)) > believedMs) return undefined;
  const plan = planOf(kept.plan);
  const climbAfter = Number(kept.climbAfter);
  return plan && climbAfter > 0 ? { plan, climbAfter, proved: planOf(kept.proved) } : undefined;
};

/** The part of a period after which a call may be tried while a higher plan is tried. */
const earlyPart = (
  { state: { plan }, early }: PlanGuess,
  limits: PlanLimits,
  rates: PlanRates,
): number | undefined => {
  const next = early === undefined ? undefined : higher(plan, limits);
  const part = next ? (earlySlack * rates[plan]) / rates[next] : 1;
  return part < 1 ? part : undefined;
};

/** The plan of one tenant, shared by its endpoints and, through the store, by its processes. */
export class TenantPlan {
  readonly #options: TenantPlanOptions;
  readonly #limits: PlanLimits;
  #guess: PlanGuess;
  #loaded: Promise<void> | undefined;
  #isReported = false;

  constructor(options: TenantPlanOptions) {
    this.#options = options;
    const highest = options.plan ?? plans[plans.length - 1] ?? "enterprise";
    this.#limits = { highest, isConfigured: options.plan !== undefined };
    this.#guess = planAtFirst(this.#limits);
  }

  async allowed(rates: PlanRates): Promise<Allowed> {
    this.#loaded ??= this.#load();
    await this.#loaded;
    return {
      rate: rates[this.#guess.state.plan],
      early: earlyPart(this.#guess, this.#limits, rates),
    };
  }

  /** Learns from an answer, and keeps for others what has changed by it. */
  async learn(evidence: PlanEvidence, endpoint: string, rates: PlanRates): Promise<void> {
    const { store, key, clock, onGuess } = this.#options;
    const before = this.#guess.state;
    this.#guess = afterEvidence(
      this.#guess,
      { evidence, endpoint, rates, now: clock.now() },
      this.#limits,
    );
    const { state, acceptedSince } = this.#guess;
    if (
      !this.#isReported &&
      state.plan !== this.#limits.highest &&
      acceptedSince >= reportedAfter
    ) {
      this.#isReported = true;
      onGuess?.(state.plan);
    }
    if (state === before) return;
    await store.change(key, (_, at) => ({ state: { ...state, at }, result: undefined }));
  }

  /** What earlier processes have found out. */
  async #load(): Promise<void> {
    const { store, key } = this.#options;
    const state = await store.change(key, (kept, at) => ({
      state: kept,
      result: stateOf(kept, at),
    }));
    if (state) this.#guess = { ...this.#guess, state };
  }
}
