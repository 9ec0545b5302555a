import { EngineSlots, type EngineTimes, Timeline } from "./engine.js";
import { type ServiceModel, type SimulatedCall, SimulatedService } from "./simulated-service.js";
import type { PlannedCalls } from "./step-calls.js";
import type { PlannedStep } from "./workload.js";

interface Waiting {
  readonly step: PlannedStep;
  readonly next: PlannedStep[];
  missing: number;
}

const waitingSteps = (steps: readonly PlannedStep[]): ReadonlyMap<PlannedStep, Waiting> => {
  const all = new Map<PlannedStep, Waiting>(
    steps.map((step) => [step, { step, next: [], missing: 0 }]),
  );
  const byUrn = new Map(steps.map((step) => [`${step.phase} ${step.urn}`, step]));
  for (const waiting of all.values())
    for (const urn of new Set(waiting.step.after)) {
      const before = byUrn.get(`${waiting.step.phase} ${urn}`);
      if (!before || before === waiting.step) continue;
      all.get(before)?.next.push(waiting.step);
      waiting.missing += 1;
    }
  return all;
};

/** Which steps may begin, at first and as others end: dependencies within a phase, and one phase after the other. */
const stepOrder = (steps: readonly PlannedStep[]) => {
  const waiting = waitingSteps(steps);
  const phases = [...new Set(steps.map(({ phase }) => phase))].sort((a, b) => a - b);
  const left = new Map(phases.map((phase) => [phase, 0]));
  for (const { phase } of steps) left.set(phase, (left.get(phase) ?? 0) + 1);
  const opened = (phase: number | undefined): readonly PlannedStep[] =>
    steps.filter((step) => step.phase === phase && waiting.get(step)?.missing === 0);
  const ended = (step: PlannedStep): readonly PlannedStep[] => {
    const free = (waiting.get(step)?.next ?? []).filter((next) => {
      const one = waiting.get(next);
      if (one) one.missing -= 1;
      return one?.missing === 0;
    });
    const rest = (left.get(step.phase) ?? 0) - 1;
    left.set(step.phase, rest);
    return rest === 0 ? opened(phases[phases.indexOf(step.phase) + 1]) : free;
  };
  return { first: opened(phases[0]), ended };
};

export interface SimulationOptions extends ServiceModel {
  /** Steps that run together. */
  readonly parallel: number;
  readonly callsOf: (step: PlannedStep) => readonly PlannedCalls[];
  readonly engine: EngineTimes;
}

export interface Simulated {
  readonly totalSeconds: number;
  /** In the order in which they were sent. */
  readonly calls: readonly SimulatedCall[];
}

/**
 * Lets a run happen in simulated time: each step waits for what it depends on, then for a free slot
 * of the engine, which it holds while its calls wait for their rates.
 */
export const simulate = (steps: readonly PlannedStep[], options: SimulationOptions): Simulated => {
  const timeline = new Timeline();
  const service = new SimulatedService(options, timeline);
  const slots = new EngineSlots<SimulatedCall>(timeline, options.parallel, options.engine);
  const order = stepOrder(steps);
  const start = (step: PlannedStep, cause: SimulatedCall | undefined): void => {
    const calls = options.callsOf(step);
    slots.run(cause, calls.length > 0, (reason, release) => {
      service.make(step, calls, reason, (last) => {
        release(last);
        for (const next of order.ended(step)) start(next, last);
      });
    });
  };
  timeline.at(options.engine.startSeconds, () => {
    for (const step of order.first) start(step, undefined);
  });
  timeline.run();
  return { totalSeconds: timeline.now, calls: service.calls };
};
