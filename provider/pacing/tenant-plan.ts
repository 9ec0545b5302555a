import type { Clock } from "../kernel/clock.js";
import { isObject } from "../kernel/json.js";
import { type Plan, plans } from "../service/plans.js";
import type { PlanRates } from "./plan-rates.js";
import type { BucketStore, Kept } from "./shared-buckets.js";

export interface TenantPlanOptions {
  readonly store: BucketStore;
  /** Names the plan in the store. */
  readonly key: string;
  readonly clock: Pick<Clock, "now">;
  /** As configured. Left out: found out. */
  readonly plan?: Plan | undefined;
  /** Called once with the plan it seems to be, if not the one that was to be expected. */
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

/** So many calls got through before a guess is reported: a guess on the way down is over sooner. */
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

/**
 * What an answer says of the plan. `early`: the call went sooner than the plan allows. `probe`: it
 * was to find out the burst, so its refusal says nothing against the plan.
 */
export type PlanEvidence =
  | "accepted"
  | "refused"
  | "early accepted"
  | "early refused"
  | "probe refused";

/** What is kept of the guess for the next process: plain JSON. */
interface PlanState {
  readonly plan: Plan;
  /** Calls got through at a rate that lower plans do not have. Left out: not seen yet. */
  readonly proved?: Plan | undefined;
  /** Calls that must get through before a higher plan is tried. */
  readonly climbAfter: number;
}

/** Calls that follow each other after a refusal; times in monotonic milliseconds. */
interface Series {
  readonly since: number;
  readonly last: number;
  /** Calls that got through. */
  readonly calls: number;
}

/** What one process counts at one endpoint. */
interface EndpointCounts {
  /** Refusals without a row of successes between them. */
  readonly refusals: number;
  /** Calls that got through since the last refusal. */
  readonly acceptedSince: number;
  /** When the last refusal was, in monotonic milliseconds. */
  readonly refusedAt?: number;
  readonly series?: Series | undefined;
}

/** What one process knows of the plan. */
interface PlanGuess {
  readonly state: PlanState;
  readonly endpoints: Readonly<Record<string, EndpointCounts>>;
  /** Calls that got through since the last refusal, or since the plan was changed. */
  readonly acceptedSince: number;
  /** Calls that got through sooner than the plan allows; undefined: no higher plan is tried. */
  readonly early: number | undefined;
}

export interface PlanEvent {
  readonly evidence: PlanEvidence;
  readonly endpoint: string;
  /** Monotonic milliseconds. */
  readonly now: number;
  /** Calls per second of the endpoint on each plan. */
  readonly rates: PlanRates;
}

/** The plan that was configured, or the highest: no higher one is tried. */
interface PlanLimits {
  readonly highest: Plan;
  readonly isConfigured: boolean;
}

/** Calls before a higher plan is tried at first: a minute at the lowest rate. */
const firstClimbAfter = 6;

/** Most calls before a higher plan is tried; doubled up to here, so that trying costs 1.5 % at most. */
const mostClimbAfter = 64;

/**
 * So many calls sooner than a plan allows are hardly savings of its bucket any more. With 2 a plan that is
 * configured too high costs 42 refusals for 24, 10 is up to 3 % slower (measured in virtual time).
 */
const climbedAfter = 5;

/**
 * Calls that get through at less than this part of a plan's rate, and are refused, speak against it.
 * With 0.6 it takes up to twice as many refusals to find a lower plan (measured in virtual time).
 */
const tooSlow = 0.8;

/**
 * Refusals that speak against a plan that is configured or proved. After a few, others' traffic would be
 * taken for a lower plan (38 % slower, measured in virtual time).
 */
const mostRefusals = 20;

/**
 * Refusals are forgiven after so many calls in a row: near misses are further apart on usual lines. With 3
 * a burst of one that others use, too, is 4 % slower (measured in virtual time).
 */
const forgivenAfter = 8;

/** Real rates may be higher than they are said to be by less than this (assumed; plans differ by 1.8 and more). */
const rateSlack = 1.1;

/** Part of a token that may have been there when a call was refused, and one for clocks and lines. */
const tokensAtRefusal = 1.5;

/**
 * Calls that follow each other more slowly, in periods, say nothing of the rate. With 1.2 finding a lower
 * plan costs 32 refusals for 25, with 10 others' traffic costs 17 % more time (measured in virtual time).
 */
const mostApart = 3;

/** Place among the plans, the lowest first. */
const rank = (plan: Plan): number => plans.indexOf(plan);

/** The next plan that gives less here. */
const lower = (plan: Plan, rates: PlanRates): Plan | undefined =>
  plans.findLast((other) => rank(other) < rank(plan) && rates[other] < rates[plan]);

/** The next plan that may be tried. */
const higher = (plan: Plan, { highest }: PlanLimits): Plan | undefined =>
  plans.find((other) => rank(other) > rank(plan) && rank(other) <= rank(highest));

const planAtFirst = ({ highest: plan }: PlanLimits): PlanGuess => {
  const state = { plan, climbAfter: firstClimbAfter };
  return { state, endpoints: {}, acceptedSince: 0, early: undefined };
};

const countsOf = ({ endpoints }: PlanGuess, endpoint: string): EndpointCounts =>
  endpoints[endpoint] ?? { refusals: 0, acceptedSince: 0 };

const withCounts = (guess: PlanGuess, endpoint: string, counts: EndpointCounts): PlanGuess => ({
  ...guess,
  endpoints: { ...guess.endpoints, [endpoint]: counts },
});

/** Another plan: what was counted for the one before is over. */
const withPlan = (guess: PlanGuess, state: PlanState, early?: number): PlanGuess => ({
  state,
  endpoints: Object.fromEntries(
    Object.entries(guess.endpoints).map(([name, counts]) => [name, { ...counts, refusals: 0 }]),
  ),
  acceptedSince: 0,
  early,
});

const continued = ({ series }: EndpointCounts, { now, rates }: PlanEvent, plan: Plan) =>
  series && now - series.last < (mostApart * 1000) / rates[plan] ? series : undefined;

/** The lowest plan that gives so many calls in a time. */
const provedBy = (calls: number, ms: number, rates: PlanRates): Plan | undefined =>
  plans.find((plan) => calls - tokensAtRefusal <= (rates[plan] * rateSlack * ms) / 1000);

/** After a refusal the bucket was empty, so whatever got through since came back at the rate. */
const proof = ({ acceptedSince, refusedAt }: EndpointCounts, { now, rates }: PlanEvent) => {
  const seen =
    refusedAt === undefined ? undefined : provedBy(acceptedSince, now - refusedAt, rates);
  return seen !== undefined && rank(seen) > 0 ? seen : undefined;
};

const withProof = (state: PlanState, seen: Plan | undefined): PlanState => {
  if (seen === undefined || (state.proved && rank(seen) <= rank(state.proved))) return state;
  return { ...state, proved: seen, plan: rank(seen) > rank(state.plan) ? seen : state.plan };
};

const accepted = (guess: PlanGuess, event: PlanEvent, limits: PlanLimits): PlanGuess => {
  const { endpoint, now } = event;
  const { plan, climbAfter } = guess.state;
  const before = countsOf(guess, endpoint);
  // Nothing was ever refused here, and there is no higher plan: most calls say no more than that.
  const { refusals, refusedAt } = before;
  if (refusals === 0 && refusedAt === undefined && plan === limits.highest) return guess;
  const counts = { ...before, acceptedSince: before.acceptedSince + 1 };
  const seen = proof(counts, event);
  const isSure =
    counts.acceptedSince >= forgivenAfter || (seen !== undefined && rank(seen) >= rank(plan));
  const series = continued(before, event, plan);
  const isLong = series === undefined || series.calls >= forgivenAfter;
  const next = withCounts(guess, endpoint, {
    ...counts,
    refusals: isSure ? 0 : refusals,
    series: isLong ? undefined : { ...series, last: now, calls: series.calls + 1 },
  });
  const state = withProof(guess.state, seen);
  const acceptedSince = guess.acceptedSince + 1;
  const mayClimb = acceptedSince >= climbAfter && higher(state.plan, limits) !== undefined;
  return { ...next, state, acceptedSince, early: guess.early ?? (mayClimb ? 0 : undefined) };
};

const earlyAccepted = (before: PlanGuess, event: PlanEvent, limits: PlanLimits): PlanGuess => {
  const guess = accepted(before, event, limits);
  const early = (guess.early ?? 0) + 1;
  const next = higher(guess.state.plan, limits);
  if (early < climbedAfter || !next) return { ...guess, early };
  // Tried at once whether there is a still higher one.
  return withPlan(guess, { ...guess.state, plan: next }, higher(next, limits) ? 0 : undefined);
};

/** Says nothing against the plan; but now the bucket is surely empty. */
const probeRefused = (guess: PlanGuess, { endpoint, now }: PlanEvent): PlanGuess => {
  const { refusals } = countsOf(guess, endpoint);
  const series = { since: now, last: now, calls: 0 };
  return withCounts(guess, endpoint, { refusals, acceptedSince: 0, refusedAt: now, series });
};

/** The higher plan is not there, or others use it up. */
const earlyRefused = (guess: PlanGuess, { endpoint, now }: PlanEvent): PlanGuess => {
  const counts = { ...countsOf(guess, endpoint), acceptedSince: 0, refusedAt: now };
  const climbAfter = Math.min(mostClimbAfter, 2 * guess.state.climbAfter);
  const state = { ...guess.state, climbAfter };
  return { ...withCounts(guess, endpoint, counts), state, acceptedSince: 0, early: undefined };
};

const isCertain = ({ plan, proved }: PlanState, limits: PlanLimits): boolean =>
  (limits.isConfigured && plan === limits.highest) ||
  (proved !== undefined && rank(proved) >= rank(plan));

/** Most that the bucket can have given in a series, in calls per second. */
const mostSeen = ({ since, calls }: Series, now: number): number => {
  // Part of a token was there at first, and one more may have been lost in a pause before a call.
  const tokens = calls + (calls > 0 ? 2 : 1);
  return (tokens * 1000) / (now - since);
};

const refused = (guess: PlanGuess, event: PlanEvent, limits: PlanLimits): PlanGuess => {
  const { endpoint, now, rates } = event;
  const { plan, climbAfter } = guess.state;
  const before = countsOf(guess, endpoint);
  const refusals = before.refusals + 1;
  const series = { since: now, calls: 0, ...continued(before, event, plan), last: now };
  const counts = { refusals, acceptedSince: 0, refusedAt: now, series };
  const below = lower(plan, rates);
  const isTooHigh = isCertain(guess.state, limits)
    ? refusals >= mostRefusals
    : mostSeen(series, now) < tooSlow * rates[plan];
  if (!below || !isTooHigh) {
    return { ...withCounts(guess, endpoint, counts), acceptedSince: 0, early: undefined };
  }
  // Without a call in between it never was full since; with one, tokens may have been lost meanwhile.
  const anew = series.calls === 0 ? series : { since: now, last: now, calls: 0 };
  const next = withCounts(guess, endpoint, { ...counts, series: anew });
  return withPlan(next, { plan: below, climbAfter });
};

const learners = {
  accepted,
  "early accepted": earlyAccepted,
  "early refused": earlyRefused,
  "probe refused": probeRefused,
  refused,
} satisfies Record<PlanEvidence, unknown>;

/**
 * The plan of a tenant, as a pure function of what happens to its calls. It starts with the highest
 * that is possible, steps down where refused calls show that it cannot be, and climbs when calls that
 * are made sooner get through.
 */
const afterEvidence = (guess: PlanGuess, event: PlanEvent, limits: PlanLimits): PlanGuess =>
  learners[event.evidence](guess, event, limits);
