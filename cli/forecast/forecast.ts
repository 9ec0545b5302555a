import type { z } from "zod";
import { type Plan, plans } from "../../provider/service/plans.js";
import type { Printed } from "../printed.js";
import { type Conditions, endpointLimit } from "./conditions.js";
import type {
  endpointForecastSchema,
  forecastSchema,
  pathPartSchema,
  planForecastSchema,
} from "./forecast-schema.js";
import { type EngineTimes, engineTimes } from "./simulation/engine.js";
import { type Simulated, simulate } from "./simulation/simulate.js";
import type { SimulatedCall } from "./simulation/simulated-service.js";
import { callsOf } from "./simulation/step-calls.js";
import type { Workload } from "./simulation/workload.js";

/** Calls of one endpoint in a row, each of which holds up the next. */
export type PathPart = Printed<z.output<typeof pathPartSchema>>;

/** The calls that led to one, in groups of one endpoint. */
const groupsTo = (last: SimulatedCall | undefined): readonly (readonly SimulatedCall[])[] => {
  const groups: SimulatedCall[][] = [];
  for (let call = last; call; call = call.cause) {
    const group = groups[0];
    if (group?.[0]?.endpoint === call.endpoint) group.unshift(call);
    else groups.unshift([call]);
  }
  return groups;
};

/** The chain of calls that makes the run as long as it is; empty where there are none. */
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

/** What one endpoint has to bear. */
export type EndpointForecast = Printed<z.output<typeof endpointForecastSchema>>;

/** What the run would take on a plan. */
export type PlanForecast = Printed<z.output<typeof planForecastSchema>>;

/** The forecast of a run, as `--json` prints it. */
export type Forecast = Printed<z.output<typeof forecastSchema>>;

/** Assumed: the time from a call to its answer. */
const roundTripSeconds = 0.05;

/** How a run goes on under some conditions. `engine`: left out, as measured. */
export const simulateRun = (
  workload: Workload,
  conditions: Conditions,
  engine: EngineTimes = engineTimes(workload),
): Simulated =>
  simulate(workload.steps, {
    parallel: conditions.parallel,
    roundTripSeconds,
    engine,
    limitOf: ({ endpoint }) => endpointLimit(endpoint, conditions),
    callsOf: (step) => callsOf(step, workload, conditions.pageSize),
  });

const rounded = (seconds: number): number => Math.round(seconds * 10) / 10;

const endpointsOf = ({ calls }: Simulated): readonly EndpointForecast[] =>
  [...Map.groupBy(calls, ({ endpoint }) => endpoint)].map(([endpoint, own]) => {
    const from = Math.min(...own.map(({ wantedAt }) => wantedAt));
    const to = Math.max(...own.map(({ endedAt }) => endedAt));
    return { endpoint, calls: own.length, seconds: rounded(to - from) };
  });

const pathOf = ({ calls }: Simulated): readonly PathPart[] =>
  criticalPath(calls).map((part) => ({
    ...part,
    fromSeconds: rounded(part.fromSeconds),
    toSeconds: rounded(part.toSeconds),
  }));

/** Says how many calls a run makes and how long it takes, under these conditions and on other plans. */
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
    endpoints: endpointsOf(run),
    criticalPath: pathOf(run),
    plans: Object.fromEntries(plans.map((other) => [other, onPlan(other)])),
  };
};
