import { isObject } from "../kernel/json.js";
import { type Plan, plans } from "../service/plans.js";
import type { PlanRates } from "./plan-rates.js";
import type { BucketStore, Kept } from "./shared-buckets.js";

interface TenantPlanOptions {
  readonly store: BucketStore;
  /** Name of the plan in the store. */
  readonly key: string;
  /** As configured. Left out: found out. */
  readonly plan?: Plan | undefined;
  /** Called once with the apparent plan, unless it is the expected one. */
  readonly onGuess?: ((plan: Plan) => void) | undefined;
}

/** What a call shows about the plan. */
export type PlanEvidence = "accepted" | "refused";

/** What one process has seen on an endpoint since its first refusal. */
interface Outcomes {
  readonly refusals: number;
  /** Successful calls since the last refusal. */
  accepted: number;
}

/**
 * Number of successful calls before a guess is reported: a temporary guess on the way down is over
 * sooner.
 */
const reportedAfter = 4;

/**
 * Number of refusals that disprove a plan that nobody has configured. With 4 the lowest plan is
 * found after 8 refused calls instead of 6, with 2 near misses would be enough.
 */
const mostUnsureRefusals = 3;

/**
 * Number of refusals that disprove a configured plan. After only a few, other users' traffic would
 * be taken for a lower plan (38 % slower, measured in virtual time).
 */
const mostRefusals = 20;

/**
 * Refusals are forgotten after this many successful calls in a row: near misses are usually further
 * apart.
 */
const forgivenAfter = 8;

/** Successful calls before a higher plan is tried for the first time; doubles when that is in vain. */
const firstClimbAfter = 4;

/** Maximum calls before a higher plan is tried, so that trying costs at most 1.5 %. */
const mostClimbAfter = 64;

/** More successful calls than this are unlikely to come from the savings of a lower plan's bucket. */
const climbedAfter = 5;

/** What a process has stored. */
const stateOf = (kept: Kept | undefined) => {
  if (!isObject(kept)) return undefined;
  const plan = plans.find((known) => known === kept.plan);
  const climbAfter = Number(kept.climbAfter);
  return plan && climbAfter > 0 ? { plan, climbAfter } : undefined;
};

/** The next plan with a lower rate for this endpoint. */
const lower = (plan: Plan, rates: PlanRates): Plan | undefined =>
  plans.slice(0, plans.indexOf(plan)).findLast((other) => rates[other] < rates[plan]);

/**
 * One tenant's plan, shared by the tenant's endpoints and, through the store, by other processes. It
 * is the configured or else the highest plan. It goes down when refused calls disprove it, and up
 * again by trying: the first refusal ends an attempt.
 */
export class TenantPlan {
  readonly #options: TenantPlanOptions;
  readonly #expected: Plan;
  readonly #endpoints = new Map<string, Outcomes>();
  #plan: Plan;
  #climbAfter = firstClimbAfter;
  #isTrial = false;
  /** Successful calls since the last refusal, or since the plan was changed. */
  #accepted = 0;
  #loaded: Promise<void> | undefined;
  #isReported = false;

  constructor(options: TenantPlanOptions) {
    this.#options = options;
    this.#expected = options.plan ?? plans.at(-1) ?? "enterprise";
    this.#plan = this.#expected;
  }

  /** The plan that the tenant seems to have. */
  async current(): Promise<Plan> {
    this.#loaded ??= this.#load();
    await this.#loaded;
    return this.#plan;
  }

  /** Learns from a response, and stores any change for other processes. */
  async learn(evidence: PlanEvidence, endpoint: string, rates: PlanRates): Promise<void> {
    const [before, wasTrial] = [this.#plan, this.#isTrial];
    if (evidence === "accepted") this.#learnAccepted(endpoint);
    else this.#learnRefused(endpoint, lower(before, rates));
    if (!this.#isTrial && (wasTrial || this.#plan !== before)) await this.#save();
  }

  #learnAccepted(endpoint: string): void {
    this.#accepted += 1;
    const outcomes = this.#endpoints.get(endpoint);
    if (outcomes) {
      outcomes.accepted += 1;
      if (outcomes.accepted >= forgivenAfter) this.#endpoints.delete(endpoint);
    }
    this.#goUp();
  }

  #learnRefused(endpoint: string, below: Plan | undefined): void {
    this.#accepted = 0;
    const outcomes = this.#endpoints.get(endpoint) ?? { refusals: 0, accepted: 0 };
    this.#endpoints.set(endpoint, { refusals: outcomes.refusals + 1, accepted: 0 });
    const isConfigured = this.#options.plan === this.#plan;
    const most = isConfigured ? mostRefusals : mostUnsureRefusals;
    if (!below || !(this.#isTrial || outcomes.refusals + 1 >= most)) return;
    if (this.#isTrial) this.#climbAfter = Math.min(mostClimbAfter, 2 * this.#climbAfter);
    this.#change(below, false);
  }

  #goUp(): void {
    const isLower = this.#plan !== this.#expected;
    if (isLower && !this.#isTrial && !this.#isReported && this.#accepted >= reportedAfter) {
      this.#isReported = true;
      this.#options.onGuess?.(this.#plan);
    }
    if (this.#accepted < (this.#isTrial ? climbedAfter : this.#climbAfter)) return;
    const next = plans[plans.indexOf(this.#plan) + 1];
    if (isLower && next) this.#change(next, true);
    else this.#isTrial = false;
  }

  #change(plan: Plan, isTrial: boolean): void {
    this.#plan = plan;
    this.#isTrial = isTrial;
    this.#accepted = 0;
    // What was counted for the previous plan no longer applies.
    this.#endpoints.clear();
  }

  async #save(): Promise<void> {
    const { store, key } = this.#options;
    const state = { plan: this.#plan, climbAfter: this.#climbAfter };
    await store.change(key, (_, at) => ({ state: { at, ...state }, result: undefined }));
  }

  /** Loads what earlier processes have learned. */
  async #load(): Promise<void> {
    const { store, key } = this.#options;
    const kept = await store.change(key, (state) => ({ state, result: state }));
    const found = stateOf(kept);
    if (!found) return;
    this.#plan = found.plan;
    this.#climbAfter = found.climbAfter;
  }
}
