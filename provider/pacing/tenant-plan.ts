import type { Clock } from "../kernel/clock.js";
import { isObject } from "../kernel/json.js";
import { type Plan, plans } from "../service/plans.js";
import type { PlanRates } from "./plan-rates.js";
import type { BucketStore, Kept } from "./shared-buckets.js";

interface TenantPlanOptions {
  readonly store: BucketStore;
  /** Name of the plan in the store. */
  readonly key: string;
  readonly clock: Pick<Clock, "now">;
  /** As configured. Left out: found out. */
  readonly plan?: Plan | undefined;
  /** Called once with the apparent plan, unless it is the expected one. */
  readonly onGuess?: ((plan: Plan) => void) | undefined;
}

/** What a call shows about the plan. */
export type PlanEvidence = "accepted" | "refused";

/** What one process has seen on one endpoint since a refusal; times in monotonic milliseconds. */
interface Outcomes {
  /** Refusals without a series of successes between them. */
  readonly refusals: number;
  /** Successful calls since the last refusal. */
  readonly acceptedSince: number;
  /** Start of the calls that follow each other closely, and how many of these were successful. */
  readonly since: number | undefined;
  readonly accepted: number;
  readonly last: number;
}

/** A guess is trusted no longer than this: plans are bought and canceled. */
const believedMs = 24 * 60 * 60_000;

/**
 * Number of successful calls before a guess is reported: a temporary guess on the way down is over
 * sooner.
 */
const reportedAfter = 5;

/**
 * Calls that succeed at less than this fraction of a plan's rate, and are refused, are evidence
 * against it. With 0.6 it takes up to twice as many refusals to find a lower plan (measured in
 * virtual time).
 */
const tooSlow = 0.8;

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

/**
 * Calls that are further apart than this, in periods, say nothing about the rate. With 1.2 finding
 * a lower plan costs 32 refusals instead of 25, with 10 other users' traffic costs 17 % more time
 * (measured in virtual time).
 */
const mostApart = 3;

/** Successful calls before a higher plan is tried for the first time; doubles when that is in vain. */
const firstClimbAfter = 8;

/** Maximum calls before a higher plan is tried, so that trying costs at most 1.5 %. */
const mostClimbAfter = 64;

/** More successful calls than this are unlikely to come from the savings of a lower plan's bucket. */
const climbedAfter = 5;

const noOutcomes = { refusals: 0, acceptedSince: 0, since: undefined, accepted: 0, last: 0 };

/** What a process has stored, if it is still trusted. */
const stateOf = (kept: Kept | undefined, now: number) => {
  if (!isObject(kept) || Math.abs(now - Number(kept.at)) > believedMs) return undefined;
  const plan = plans.find((known) => known === kept.plan);
  const climbAfter = Number(kept.climbAfter);
  return plan && climbAfter > 0 ? { plan, climbAfter } : undefined;
};

/** The next plan with a lower rate for this endpoint. */
const lower = (plan: Plan, rates: PlanRates): Plan | undefined =>
  plans.slice(0, plans.indexOf(plan)).findLast((other) => rates[other] < rates[plan]);

/** The outcomes with one more; calls that are too far apart say nothing together. */
const withCall = (
  before: Outcomes,
  evidence: PlanEvidence,
  now: number,
  rate: number,
): Outcomes => {
  const { refusals, acceptedSince, since, accepted } = before;
  const isClose = now - before.last < (mostApart * 1000) / rate && accepted < forgivenAfter;
  const start = isClose ? since : undefined;
  if (evidence === "accepted") {
    const next = { acceptedSince: acceptedSince + 1, accepted: accepted + 1, last: now };
    return { ...before, ...next, since: start };
  }
  const series = start === undefined ? { since: now, accepted: 0 } : { since, accepted };
  return { refusals: refusals + 1, acceptedSince: 0, last: now, ...series };
};

/** The maximum rate that the bucket can have given, in calls per second. */
const mostSeen = ({ since = 0, last, accepted }: Outcomes): number => {
  // A fraction of a token was there at first, and one more may have been lost in a pause before a
  // call.
  const tokens = accepted + (accepted > 0 ? 2 : 1);
  return (tokens * 1000) / (last - since);
};

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
    const before = this.#plan;
    const wasTrial = this.#isTrial;
    const known = this.#endpoints.get(endpoint);
    this.#accepted = evidence === "accepted" ? this.#accepted + 1 : 0;
    // Where nothing was refused, most calls show no more than that.
    if (known || evidence === "refused") {
      const now = this.#options.clock.now();
      const outcomes = withCall(known ?? noOutcomes, evidence, now, rates[before]);
      this.#endpoints.set(endpoint, outcomes);
      if (outcomes.acceptedSince >= forgivenAfter) this.#endpoints.delete(endpoint);
      if (evidence === "refused") this.#goDown(endpoint, outcomes, rates);
    }
    if (evidence === "accepted") this.#goUp();
    const isSettled = !this.#isTrial && (wasTrial || this.#plan !== before);
    if (isSettled) await this.#save();
  }

  #goDown(endpoint: string, outcomes: Outcomes, rates: PlanRates): void {
    const below = lower(this.#plan, rates);
    const isCertain = this.#options.plan === this.#plan && !this.#isTrial;
    const isTooHigh = isCertain
      ? outcomes.refusals >= mostRefusals
      : this.#isTrial || mostSeen(outcomes) < tooSlow * rates[this.#plan];
    if (!below || !isTooHigh) return;
    if (this.#isTrial) this.#climbAfter = Math.min(mostClimbAfter, 2 * this.#climbAfter);
    this.#change(below, false);
    // Without a call in between the bucket was never full since: the time counts for this plan, too.
    if (outcomes.accepted === 0) this.#endpoints.set(endpoint, { ...outcomes, refusals: 0 });
  }

  #goUp(): void {
    if (this.#isTrial && this.#accepted < climbedAfter) return;
    const next = plans[plans.indexOf(this.#plan) + 1];
    const isLower = next !== undefined && this.#plan !== this.#expected;
    if (isLower && (this.#isTrial || this.#accepted >= this.#climbAfter)) this.#change(next, true);
    else this.#isTrial = false;
    if (this.#isReported || !isLower || this.#accepted < reportedAfter) return;
    this.#isReported = true;
    this.#options.onGuess?.(this.#plan);
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
    const found = await store.change(key, (kept, at) => ({
      state: kept,
      result: stateOf(kept, at),
    }));
    if (!found) return;
    this.#plan = found.plan;
    this.#climbAfter = found.climbAfter;
  }
}
