import { type Plan, plans } from "../../provider/service/settings/plans.js";
import { criticalPath, type PathPart } from "./critical-path.js";
import { type Conditions, limitOf } from "./simulation/conditions.js";
import { type EngineTimes, engineTimes } from "./simulation/engine-times.js";
import type { Operation } from "./simulation/operations.js";
import { type Simulated, simulate } from "./simulation/simulate.js";
import { callsOf } from "./simulation/step-calls.js";
import type { Workload } from "./simulation/workload.js";

/** What one endpoint has to bear. */
export interface EndpointForecast {
  /** Such as `POST /participants`. */
  readonly endpoint: string;
  readonly calls: number;
  /** From the time at which the first of them is wanted to the answer of the last. */
  readonly seconds: number;
}

/** What the run would take on a plan. */
export interface PlanForecast {
  readonly totalSeconds: number;
  /** Below 0: so much longer than on the plan that is forecast. */
  readonly savesSeconds: number;
}

/** The forecast of a run, as `--json` prints it. */
export interface Forecast {
  readonly operation: Operation;
  readonly plan: Plan;
  readonly parallel: number;
  /** From the start of the command to its end, without the preview that Pulumi may make before. */
  readonly totalSeconds: number;
  readonly totalCalls: number;
  readonly endpoints: readonly EndpointForecast[];
  readonly criticalPath: readonly PathPart[];
  readonly plans: Readonly<Record<string, PlanForecast>>;
}

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
    limitOf: ({ endpoint }) => limitOf(endpoint, conditions),
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
