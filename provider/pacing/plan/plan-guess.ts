import { type Plan, plans } from "../../service/settings/plans.js";
import {
  type EndpointCounts,
  higher,
  lower,
  type PlanCounts,
  type PlanEvent,
  type PlanLimits,
  type PlanState,
  type PlanStep,
  type RateOnPlan,
  rank,
  type Watch,
} from "./plan-state.js";

/** Calls that get through at less than this part of a plan's rate, and are refused, speak against it. */
const tooSlow = 0.8;

/**
 * Refusals that speak against a plan that is configured or proved. After a few, others' traffic would be
 * taken for a lower plan (38 % slower, measured in virtual time).
 */
const mostStrikes = 20;

/** Refusals are forgiven after so many calls in a row: near misses are further apart on usual lines. */
const forgivenAfter = 8;

/** Most calls before a higher plan is tried; doubled up to here, so that trying costs 1.5 % at most. */
const mostClimbAfter = 64;

/** So many calls sooner than a plan allows are hardly savings of its bucket any more. */
const climbedAfter = 5;

/** Real rates may be higher than they are said to be by less than this. */
const rateSlack = 1.1;

/** Part of a token that may have been there when a call was refused, and one for clocks and lines. */
const tokensAtRefusal = 1.5;

/** Calls that follow each other more slowly, in periods, say nothing of the rate. */
const mostApart = 3;

const nothingSeen: EndpointCounts = { strikes: 0, good: 0 };

const countsOf = ({ endpoints }: PlanCounts, endpoint: string): EndpointCounts =>
  endpoints[endpoint] ?? nothingSeen;

const withCounts = (counts: PlanCounts, endpoint: string, own: EndpointCounts): PlanCounts => ({
  ...counts,
  endpoints: { ...counts.endpoints, [endpoint]: own },
});

/** The plan was changed: what was counted for it is over. */
const afterChange = (counts: PlanCounts, early?: number): PlanCounts => ({
  endpoints: Object.fromEntries(
    Object.entries(counts.endpoints).map(([name, own]) => [name, { ...own, strikes: 0 }]),
  ),
  steady: 0,
  early,
});

const continued = ({ watch }: EndpointCounts, { now, rate }: PlanEvent, plan: Plan) =>
  watch && now - watch.last < (mostApart * 1000) / rate(plan) ? watch : undefined;

/** The lowest plan that gives so many calls in a time. */
const provedBy = (calls: number, ms: number, rate: RateOnPlan): Plan | undefined =>
  plans.find((plan) => calls - tokensAtRefusal <= (rate(plan) * rateSlack * ms) / 1000);

/** After a refusal the bucket was empty, so whatever got through since came back at the rate. */
const proof = ({ good, refusedAt }: EndpointCounts, { now, rate }: PlanEvent): Plan | undefined => {
  const seen = refusedAt === undefined ? undefined : provedBy(good, now - refusedAt, rate);
  return seen !== undefined && rank(seen) > 0 ? seen : undefined;
};

const withProof = (state: PlanState, seen: Plan | undefined): PlanState => {
  if (seen === undefined || (state.proved && rank(seen) <= rank(state.proved))) return state;
  return { ...state, proved: seen, plan: rank(seen) > rank(state.plan) ? seen : state.plan };
};

/** Nothing was ever refused here, and there is no higher plan: most calls say no more than that. */
const isQuiet = ({ strikes, refusedAt }: EndpointCounts, { plan }: PlanState, highest: Plan) =>
  strikes === 0 && refusedAt === undefined && plan === highest;

const accepted = (step: PlanStep, event: PlanEvent, limits: PlanLimits): PlanStep => {
  const { state: before, counts } = step;
  const own = countsOf(counts, event.endpoint);
  if (isQuiet(own, before, limits.highest)) return step;
  const good = own.good + 1;
  const seen = proof({ ...own, good }, event);
  const isSure = good >= forgivenAfter || (seen !== undefined && rank(seen) >= rank(before.plan));
  const watch = continued(own, event, before.plan);
  const { watch: _, ...rest } = own;
  const next: EndpointCounts = {
    ...rest,
    good,
    strikes: isSure ? 0 : own.strikes,
    ...(watch && watch.calls < forgivenAfter
      ? { watch: { ...watch, last: event.now, calls: watch.calls + 1 } }
      : {}),
  };
  const state = withProof(before, seen);
  const steady = counts.steady + 1;
  const mayClimb = steady >= state.climbAfter && higher(state.plan, limits) !== undefined;
  const early = counts.early ?? (mayClimb ? 0 : undefined);
  return { state, counts: { ...withCounts(counts, event.endpoint, next), steady, early } };
};

const earlyAccepted = (before: PlanStep, event: PlanEvent, limits: PlanLimits): PlanStep => {
  const { state, counts } = accepted(before, event, limits);
  const early = (counts.early ?? 0) + 1;
  const next = higher(state.plan, limits);
  if (early < climbedAfter || !next) return { state, counts: { ...counts, early } };
  // Tried at once whether there is a still higher one.
  const goesOn = higher(next, limits) ? 0 : undefined;
  return { state: { ...state, plan: next }, counts: afterChange(counts, goesOn) };
};

/** Says nothing against the plan; but now the bucket is surely empty. */
const probeRefused = ({ state, counts }: PlanStep, { endpoint, now }: PlanEvent): PlanStep => {
  const watch: Watch = { since: now, last: now, calls: 0 };
  const { strikes } = countsOf(counts, endpoint);
  return {
    state,
    counts: withCounts(counts, endpoint, { strikes, good: 0, refusedAt: now, watch }),
  };
};

/** The higher plan is not there, or others use it up. */
const earlyRefused = ({ state, counts }: PlanStep, { endpoint, now }: PlanEvent): PlanStep => {
  const own = { ...countsOf(counts, endpoint), good: 0, refusedAt: now };
  return {
    state: { ...state, climbAfter: Math.min(mostClimbAfter, 2 * state.climbAfter) },
    counts: { ...withCounts(counts, endpoint, own), steady: 0, early: undefined },
  };
};

const isSure = ({ plan, proved }: PlanState, limits: PlanLimits): boolean =>
  (limits.isConfigured && plan === limits.highest) ||
  (proved !== undefined && rank(proved) >= rank(plan));

/** Most that the bucket can have given since the watch began, in calls per second. */
const mostSeen = ({ since, calls }: Watch, now: number): number => {
  // Part of a token was there at first, and one more may have been lost in a pause before a call.
  const tokens = calls + (calls > 0 ? 2 : 1);
  return (tokens * 1000) / (now - since);
};

const refused = ({ state, counts }: PlanStep, event: PlanEvent, limits: PlanLimits): PlanStep => {
  const { endpoint, now, rate } = event;
  const own = countsOf(counts, endpoint);
  const strikes = own.strikes + 1;
  const seen = continued(own, event, state.plan) ?? { since: now, calls: 0 };
  const watch: Watch = { ...seen, last: now };
  const next = withCounts(counts, endpoint, { strikes, good: 0, refusedAt: now, watch });
  const below = lower(state.plan, rate);
  const isTooHigh = isSure(state, limits)
    ? strikes >= mostStrikes
    : mostSeen(watch, now) < tooSlow * rate(state.plan);
  if (!below || !isTooHigh) return { state, counts: { ...next, steady: 0, early: undefined } };
  // Without a call in between it never was full since; with one, tokens may have been lost meanwhile.
  const anew = watch.calls === 0 ? watch : { since: now, last: now, calls: 0 };
  const changed = afterChange(
    withCounts(next, endpoint, { ...countsOf(next, endpoint), watch: anew }),
  );
  return { state: { plan: below, climbAfter: state.climbAfter }, counts: changed };
};

/**
 * The plan of a tenant, as a pure function of what happens to its calls. It starts with the highest
 * that is possible, steps down where refused calls show that it cannot be, and climbs when calls that
 * are made sooner get through.
 */
export const planStep = (before: PlanStep, event: PlanEvent, limits: PlanLimits): PlanStep => {
  switch (event.type) {
    case "accepted":
      return accepted(before, event, limits);
    case "early accepted":
      return earlyAccepted(before, event, limits);
    case "early refused":
      return earlyRefused(before, event);
    case "probe refused":
      return probeRefused(before, event);
    case "refused":
      return refused(before, event, limits);
  }
};
