import { shareLimit } from "../../provider/pacing/bucket.js";
import { conversationLimit } from "../../provider/pacing/plan-rates.js";
import { monthlyQuotas, type Plan, plans } from "../../provider/service/plans.js";
import {
  accountTitle,
  readSetting,
  type SettingSource,
  settingLabel,
} from "../../provider/service/settings.js";
import type { EndpointForecast, Forecast, PathPart, PlanForecast } from "./forecast-schema.js";
import { callsOf, type Workload } from "./planned-steps.js";
import {
  defaultParallel,
  type EngineTimes,
  engineTimes,
  type Simulated,
  type SimulatedCall,
  simulate,
} from "./simulation.js";

/** The limits and conditions of a run. */
export interface Conditions {
  readonly plan: Plan;
  /** Whether nothing says what the plan is. */
  readonly isPlanAssumed?: true;
  /**
   * Number of calls that every endpoint accepts in a burst. Default: as documented for the plan.
   */
  readonly burst?: number;
  /** Fraction of each limit that may be used, greater than 0 and at most 1. */
  readonly share: number;
  /** Number of steps that run in parallel. */
  readonly parallel: number;
}

/** Conditions specified on the command line. */
export type ConditionOptions = Partial<Omit<Conditions, "share">>;

/**
 * Determines the conditions from the command line, the environment, and the stack's configuration,
 * in this order of precedence. Reports assumptions as readable sentences.
 *
 * @param options may include the share, because that of an explicit provider cannot be looked up by
 * profile
 * @param profile default: the settings without a profile
 */
export const givenConditions = (
  options: Partial<Conditions>,
  source: SettingSource,
  profile?: string,
): { readonly conditions: Conditions; readonly assumed: readonly string[] } => {
  const known = options.plan ?? readSetting(source, "plan", profile);
  const burst = options.burst ?? readSetting(source, "burst", profile);
  return {
    conditions: {
      ...(known ? { plan: known } : { plan: "enterprise", isPlanAssumed: true }),
      share: options.share ?? readSetting(source, "share", profile) ?? 1,
      parallel: options.parallel ?? defaultParallel(source.environment),
      ...(burst === undefined ? {} : { burst }),
    },
    assumed: known
      ? []
      : [
          `The plan${profile === undefined ? "" : ` of ${accountTitle(profile)}`} is unknown; the forecast assumes the enterprise plan. Set it with --plan or ${settingLabel("plan", profile)}.`,
        ],
  };
};

/** The chain of calls that led to one, in groups by endpoint. */
const groupsTo = (last: SimulatedCall | undefined): readonly (readonly SimulatedCall[])[] => {
  const groups: SimulatedCall[][] = [];
  for (let call = last; call; call = call.cause) {
    const group = groups[0];
    if (group?.[0]?.endpoint === call.endpoint) group.unshift(call);
    else groups.unshift([call]);
  }
  return groups;
};

/** Returns the chain of calls that determines the run's duration; empty if there are no calls. */
export const criticalPath = (calls: readonly SimulatedCall[]): readonly PathPart[] => {
  const last = calls.reduce<SimulatedCall | undefined>(
    (latest, call) => (latest && latest.endedAt >= call.endedAt ? latest : call),
    undefined,
  );
  return groupsTo(last).flatMap((group) => {
    const [first, end] = [group[0], group.at(-1)];
    if (!first || !end) return [];
    return {
      endpoint: first.endpoint,
      calls: group.length,
      resources: [...new Set(group.map(({ step }) => step.label))],
      fromSeconds: first.wantedAt,
      toSeconds: end.endedAt,
      waitsForRate: group.some(({ sentAt, wantedAt }) => sentAt > wantedAt),
    };
  });
};

/** Assumed: the time from a call to its answer. */
const roundTripSeconds = 0.05;

/** Simulates a run under the given conditions. By default, `engine` is based on measured values. */
export const simulateRun = (
  workload: Workload,
  conditions: Conditions,
  engine: EngineTimes = engineTimes(workload),
): Simulated => {
  const { plan, burst, share, parallel } = conditions;
  return simulate(workload.steps, {
    parallel,
    roundTripSeconds,
    engine,
    limitOf: ({ endpoint }) => {
      const limit = conversationLimit(endpoint, plan);
      return shareLimit({ ...limit, burst: burst ?? limit.burst }, share);
    },
    callsOf: (step) => callsOf(step, workload),
  });
};

const rounded = (seconds: number): number => Math.round(seconds * 10) / 10;

const endpointsOf = ({ calls }: Simulated): readonly EndpointForecast[] =>
  [...Map.groupBy(calls, ({ endpoint }) => endpoint)].map(([endpoint, own]) => {
    const from = Math.min(...own.map(({ wantedAt }) => wantedAt));
    const to = Math.max(...own.map(({ endedAt }) => endedAt));
    return { endpoint, calls: own.length, seconds: rounded(to - from) };
  });

/** Calls with each HTTP method. */
const methodsOf = ({ calls }: Simulated): Readonly<Record<string, number>> => {
  const names = calls.map(({ endpoint }) => endpoint.slice(0, endpoint.indexOf(" ")));
  const groups = Map.groupBy(names, (name) => name);
  return Object.fromEntries([...groups].map(([name, same]) => [name, same.length]));
};

const pathOf = ({ calls }: Simulated): readonly PathPart[] =>
  criticalPath(calls).map((part) => ({
    ...part,
    fromSeconds: rounded(part.fromSeconds),
    toSeconds: rounded(part.toSeconds),
  }));

/**
 * Computes how many calls a run makes and how long it takes, both under the given conditions and on
 * the other plans.
 */
export const forecast = (workload: Workload, conditions: Conditions): Forecast => {
  const { plan, parallel } = conditions;
  const run = simulateRun(workload, conditions);
  const onPlan = (other: Plan): PlanForecast => {
    const { totalSeconds } =
      other === plan ? run : simulateRun(workload, { ...conditions, plan: other });
    return {
      totalSeconds: rounded(totalSeconds),
      savesSeconds: rounded(rounded(run.totalSeconds) - rounded(totalSeconds)),
    };
  };
  return {
    operation: workload.operation,
    plan,
    parallel,
    totalSeconds: rounded(run.totalSeconds),
    totalCalls: run.calls.length,
    methods: methodsOf(run),
    monthlyQuota: monthlyQuotas[plan],
    endpoints: endpointsOf(run),
    criticalPath: pathOf(run),
    plans: Object.fromEntries(plans.map((other) => [other, onPlan(other)])),
  };
};

/** Numbers worth trying: more slots cost hardly anything, but Ctrl-C waits for all of them. */
const choices = [16, 32, 64, 128, 256];

/** A gain below this fraction of the time does not justify a change. */
const worthPart = 0.05;
const closePart = 0.02;
const worthSeconds = 2;

/** A number of parallel steps, and the resulting duration of the run. */
export type ParallelChoice = Pick<Forecast, "parallel" | "totalSeconds">;

/**
 * Returns the smallest number of parallel steps that makes the run nearly as short as possible, and
 * the resulting duration; undefined if the given number suffices.
 */
export const fasterParallel = (
  workload: Workload,
  conditions: Conditions,
): ParallelChoice | undefined => {
  const secondsWith = (parallel: number): number =>
    simulateRun(workload, { ...conditions, parallel }).totalSeconds;
  const now = secondsWith(conditions.parallel);
  const candidates = choices
    .filter((parallel) => parallel > conditions.parallel)
    .map((parallel) => ({ parallel, totalSeconds: secondsWith(parallel) }));
  const best = Math.min(now, ...candidates.map(({ totalSeconds }) => totalSeconds));
  if (now - best < Math.max(worthSeconds, worthPart * now)) return undefined;
  return candidates.find(({ totalSeconds }) => totalSeconds <= best * (1 + closePart));
};
