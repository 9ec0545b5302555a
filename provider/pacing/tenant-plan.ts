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

/** What applies to an endpoint. */
export interface Allowed {
  /** The plan that the tenant seems to have. */
  readonly plan: Plan;
  /**
   * Fraction of a token that allows one call while a higher plan is being tried (see
   * `RateLimit.early`).
   */
  readonly early: number | undefined;
}

/** A guess is trusted no longer than this: plans are bought and canceled. */
const believedMs = 24 * 60 * 60_000;

/**
 * Number of successful calls before a guess is reported: a temporary guess on the way down is over
 * sooner.
 */
const reportedAfter = 5;

/**
 * A higher plan is tried slightly later than its rate allows: a near miss would look like a
 * refusal. Without this, a burst of one with other users takes up to 1.5 times as long (measured in
 * virtual time).
 */
const earlySlack = 1.1;

const planOf = (value: unknown): Plan | undefined => plans.find((plan) => plan === value);

const stateOf = (kept: Kept | undefined, now: number): PlanState | undefined => {
  if (!isObject(kept) || Math.abs(now - Number(kept.at)) > believedMs) return undefined;
  const plan = planOf(kept.plan);
  const climbAfter = Number(kept.climbAfter);
  return plan && climbAfter > 0 ? { plan, climbAfter, proved: planOf(kept.proved) } : undefined;
};

/** The fraction of a period after which a call may be tried while a higher plan is tried. */
const earlyPart = (
  { state: { plan }, early }: PlanGuess,
  limits: PlanLimits,
  rates: PlanRates,
): number | undefined => {
  const next = early === undefined ? undefined : higher(plan, limits);
  const part = next ? (earlySlack * rates[plan]) / rates[next] : 1;
  return part < 1 ? part : undefined;
};

/**
 * One tenant's plan, shared by the tenant's endpoints and, through the store, by other processes.
 */
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
      plan: this.#guess.state.plan,
      early: earlyPart(this.#guess, this.#limits, rates),
    };
  }

  /** Learns from a response, and stores any change for other processes. */
  async learn(evidence: PlanEvidence, endpoint: string, rates: PlanRates): Promise<void> {
    const { store, key, clock, onGuess } = this.#options;
    const before = this.#guess.state;
    const event = { endpoint, rates, now: clock.now() };
    this.#guess = learners[evidence](this.#guess, event, this.#limits);
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

  /** Loads what earlier processes have learned. */
  async #load(): Promise<void> {
    const { store, key } = this.#options;
    const state = await store.change(key, (kept, at) => ({
      state: kept,
      result: stateOf(kept, at),
    }));
    if (state) this.#guess = { ...this.#guess, state };
  }
}

/** What a response shows about the plan. `early`: the call was sent sooner than the plan allows. */
export type PlanEvidence = "accepted" | "refused" | "early accepted" | "early refused";

/** The stored part of the guess for the next process: plain JSON. */
interface PlanState {
  readonly plan: Plan;
  /** Calls succeeded at a rate that lower plans do not have. Left out: not observed yet. */
  readonly proved?: Plan | undefined;
  /** Number of calls that must succeed before a higher plan is tried. */
  readonly climbAfter: number;
}

/** Calls that follow each other after a refusal; times in monotonic milliseconds. */
interface Series {
  readonly since: number;
  readonly last: number;
  /** Number of successful calls. */
  readonly calls: number;
}

/** The counts of one process for one endpoint. */
interface EndpointCounts {
  /** Refusals without a series of successes between them. */
  readonly refusals: number;
  /** Successful calls since the last refusal. */
  readonly acceptedSince: number;
  /** Time of the last refusal, in monotonic milliseconds. */
  readonly refusedAt?: number;
  readonly series?: Series | undefined;
}

/** The knowledge of one process about the plan. */
interface PlanGuess {
  readonly state: PlanState;
  readonly endpoints: Readonly<Record<string, EndpointCounts>>;
  /** Successful calls since the last refusal, or since the plan was changed. */
  readonly acceptedSince: number;
  /**
   * Successful calls that were sent sooner than the plan allows; undefined: no higher plan is
   * tried.
   */
  readonly early: number | undefined;
}

interface PlanEvent {
  readonly endpoint: string;
  /** Monotonic milliseconds. */
  readonly now: number;
  /** Calls per second of the endpoint on each plan. */
  readonly rates: PlanRates;
}

/** The configured plan, or the highest: no higher one is tried. */
interface PlanLimits {
  readonly highest: Plan;
  readonly isConfigured: boolean;
}

/** Calls before the first attempt at a higher plan: a minute at the lowest rate. */
const firstClimbAfter = 6;

/**
 * Maximum calls before a higher plan is tried; the number doubles up to this, so that trying costs
 * at most 1.5 %.
 */
const mostClimbAfter = 64;

/**
 * More successful calls than this, sent sooner than a plan allows, are unlikely to come from its
 * bucket's savings. With 2 a plan that is configured too high costs 42 refusals instead of 24, 10
 * is up to 3 % slower (measured in virtual time).
 */
const climbedAfter = 5;

/**
 * Calls that succeed at less than this fraction of a plan's rate, and are refused, are evidence
 * against it. With 0.6 it takes up to twice as many refusals to find a lower plan (measured in
 * virtual time).
 */
const tooSlow = 0.8;

/**
 * Number of refusals that disprove a configured or proved plan. After only a few, other users'
 * traffic would be taken for a lower plan (38 % slower, measured in virtual time).
 */
const mostRefusals = 20;

/**
 * Refusals are forgotten after this many successful calls in a row: near misses are usually further
 * apart. With 3 a burst of one with other users is 4 % slower (measured in virtual time).
 */
const forgivenAfter = 8;

/**
 * Real rates may exceed the stated ones by less than this factor (assumed; plans differ by 1.8 and
 * more).
 */
const rateSlack = 1.1;

/**
 * The fraction of a token that may have been there when a call was refused, and one token for
 * clocks and network delays.
 */
const tokensAtRefusal = 1.5;

/**
 * Calls that are further apart than this, in periods, say nothing about the rate. With 1.2 finding
 * a lower plan costs 32 refusals instead of 25, with 10 other users' traffic costs 17 % more time
 * (measured in virtual time).
 */
const mostApart = 3;

/** Rank among the plans, the lowest first. */
const rank = (plan: Plan): number => plans.indexOf(plan);

/** The next plan with a lower rate for this endpoint. */
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

/** Switches to another plan: the counts for the previous one no longer apply. */
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

/** The lowest plan that allows this many calls in this time. */
const provedBy = (calls: number, ms: number, rates: PlanRates): Plan | undefined =>
  plans.find((plan) => calls - tokensAtRefusal <= (rates[plan] * rateSlack * ms) / 1000);

/** After a refusal the bucket was empty, so whatever succeeded since came back at the rate. */
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
  // Nothing was ever refused here, and there is no higher plan: most calls show no more than that.
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
  // Immediately tries whether there is an even higher one.
  return withPlan(guess, { ...guess.state, plan: next }, higher(next, limits) ? 0 : undefined);
};

/** The tenant does not have the higher plan, or others use it up. */
const earlyRefused = (guess: PlanGuess, { endpoint, now }: PlanEvent): PlanGuess => {
  const counts = { ...countsOf(guess, endpoint), acceptedSince: 0, refusedAt: now };
  const climbAfter = Math.min(mostClimbAfter, 2 * guess.state.climbAfter);
  const state = { ...guess.state, climbAfter };
  return { ...withCounts(guess, endpoint, counts), state, acceptedSince: 0, early: undefined };
};

const isCertain = ({ plan, proved }: PlanState, limits: PlanLimits): boolean =>
  (limits.isConfigured && plan === limits.highest) ||
  (proved !== undefined && rank(proved) >= rank(plan));

/** The maximum rate that the bucket can have given in a series, in calls per second. */
const mostSeen = ({ since, calls }: Series, now: number): number => {
  // A fraction of a token was there at first, and one more may have been lost in a pause before a
  // call.
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
  // Without a call in between it was never full since; with one, tokens may have been lost in the
  // meantime.
  const anew = series.calls === 0 ? series : { since: now, last: now, calls: 0 };
  const next = withCounts(guess, endpoint, { ...counts, series: anew });
  return withPlan(next, { plan: below, climbAfter });
};

/**
 * The plan of a tenant, as a pure function of the outcomes of its calls. It starts with the highest
 * possible plan, goes down when refused calls disprove it, and goes up when calls that are sent
 * sooner succeed.
 */
const learners = {
  accepted,
  "early accepted": earlyAccepted,
  "early refused": earlyRefused,
  refused,
} satisfies Record<
  PlanEvidence,
  (guess: PlanGuess, event: PlanEvent, limits: PlanLimits) => PlanGuess
>;
