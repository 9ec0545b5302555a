import { referencesOf } from "../../provider/definition/references.js";
import { typeToken } from "../../provider/pointer.js";
import { resources } from "../../provider/resources/index.js";
import type { Plan } from "../../provider/service/plans.js";
import type { Conditions } from "./conditions.js";
import { type Forecast, simulateRun } from "./forecast.js";
import { stepFor } from "./planned-steps.js";
import { assumedPageSize } from "./simulation/step-calls.js";
import type { PlannedStep, Workload } from "./simulation/workload.js";

/** Numbers worth trying: more slots hardly cost anything, but all of them are waited for on Ctrl-C. */
const choices = [16, 32, 64, 128, 256];

/** A gain below this part of the time is not worth a change. */
const worthPart = 0.05;
const closePart = 0.02;
const worthSeconds = 2;

/** A number of parallel steps, with the time that the run then takes. */
export type ParallelChoice = Pick<Forecast, "parallel" | "totalSeconds">;

/** The smallest number of parallel steps with which nothing waits for a slot; undefined where the given one will do. */
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

/** Objects of one kind that are made, each after the first object of every kind it may refer to. */
const creations = (kind: string, count: number): readonly PlannedStep[] => {
  const definition = resources.find((known) => known.kind === kind);
  const targets = definition ? referencesOf(definition).map(({ to }) => `${to.kind} 1`) : [];
  return Array.from({ length: count }, (_, index) =>
    stepFor({ urn: `${kind} ${index + 1}`, type: typeToken(kind) }, "create", 0, targets),
  );
};

/** The kinds with the most objects first: the order in which they hold up the others most. */
const creationOfAll = (counts: Readonly<Record<string, number>>): Workload => ({
  operation: "up",
  steps: Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .flatMap(([kind, count]) => creations(kind, count)),
  counts: new Map(),
});

/**
 * The number for `--parallel` with which making all these objects anew takes hardly longer than
 * with any higher one.
 *
 * @param resourceCounts objects of each kind, such as `{ Channel: 12 }`
 * @param leastParallel never less than this
 */
export const recommendedParallel = (
  plan: Plan,
  resourceCounts: Readonly<Record<string, number>>,
  leastParallel: number,
): number => {
  const conditions = { plan, share: 1, parallel: leastParallel, pageSize: assumedPageSize };
  return fasterParallel(creationOfAll(resourceCounts), conditions)?.parallel ?? leastParallel;
};
