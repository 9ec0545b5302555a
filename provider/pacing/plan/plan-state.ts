import { type Plan, plans } from "../../service/settings/plans.js";

/** What is kept of the guess for the next process: plain JSON. */
export interface PlanState {
  readonly plan: Plan;
  /** Calls got through at a rate that lower plans do not have. Left out: not seen yet. */
  readonly proved?: Plan;
  /** Calls that must get through before a higher plan is tried. */
  readonly climbAfter: number;
}

/** What one process counts at one endpoint. */
export interface EndpointCounts {
  /** Refusals without a row of successes between them. */
  readonly strikes: number;
  /** Calls that got through since the last refusal. */
  readonly good: number;
  /** When the last refusal was, in monotonic milliseconds. */
  readonly refusedAt?: number;
  /** From a refusal on, while calls follow each other. */
  readonly watch?: Watch;
}

/** Times in monotonic milliseconds. */
export interface Watch {
  readonly since: number;
  readonly last: number;
  /** Calls that got through. */
  readonly calls: number;
}

/** What one process counts. */
export interface PlanCounts {
  readonly endpoints: Readonly<Record<string, EndpointCounts>>;
  /** Calls that got through since the last refusal, or since the plan was changed. */
  readonly steady: number;
  /** Calls that got through sooner than the plan allows; undefined: no higher plan is tried. */
  readonly early: number | undefined;
}

export interface PlanStep {
  readonly state: PlanState;
  readonly counts: PlanCounts;
}

/** Calls per second of the endpoint on a plan. */
export type RateOnPlan = (plan: Plan) => number;

export interface PlanEvent {
  /** `early`: the call went sooner than the plan allows. `probe`: it was to find out the burst. */
  readonly type: "accepted" | "refused" | "early accepted" | "early refused" | "probe refused";
  readonly endpoint: string;
  /** Monotonic milliseconds. */
  readonly now: number;
  readonly rate: RateOnPlan;
}

/** The plan that was configured, or the highest: no higher one is tried. */
export interface PlanLimits {
  readonly highest: Plan;
  readonly isConfigured: boolean;
}

/** Calls before a higher plan is tried at first: a minute at the lowest rate. */
const firstClimbAfter = 6;

export const planAtFirst = ({ highest }: PlanLimits): PlanState => ({
  plan: highest,
  climbAfter: firstClimbAfter,
});

export const countsAtFirst: PlanCounts = { endpoints: {}, steady: 0, early: undefined };

/** Place among the plans, the lowest first. */
export const rank = (plan: Plan): number => plans.indexOf(plan);

/** The next plan that gives less here. */
export const lower = (plan: Plan, rate: RateOnPlan): Plan | undefined =>
  plans.findLast((other) => rank(other) < rank(plan) && rate(other) < rate(plan));

/** The next plan that may be tried. */
export const higher = (plan: Plan, { highest }: PlanLimits): Plan | undefined =>
  plans.find((other) => rank(other) > rank(plan) && rank(other) <= rank(highest));

/** A higher plan is tried a little later than its rate allows: a near miss would look like a refusal. */
const earlySlack = 1.1;

/** The part of a period after which a call may be tried while a higher plan is tried. */
export const earlyPart = (
  { state, counts }: PlanStep,
  limits: PlanLimits,
  rate: RateOnPlan,
): number | undefined => {
  const next = counts.early === undefined ? undefined : higher(state.plan, limits);
  const part = next ? (earlySlack * rate(state.plan)) / rate(next) : 1;
  return part < 1 ? part : undefined;
};
