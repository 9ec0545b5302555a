import { Timeline } from "../timeline.js";
import { EngineSlots, type EngineTimes } from "./engine-slots.js";
import { type ServiceModel, type SimulatedCall, SimulatedService } from "./simulated-service.js";
import type { PlannedCalls } from "./step-calls.js";
import { stepOrder } from "./step-order.js";
import type { Step } from "./workload.js";

export interface SimulationOptions extends ServiceModel {
  /** Steps that run together. */
  readonly parallel: number;
  readonly callsOf: (step: Step) => readonly PlannedCalls[];
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
export const simulate = (steps: readonly Step[], options: SimulationOptions): Simulated => {
  const timeline = new Timeline();
  const service = new SimulatedService(options, timeline);
  const slots = new EngineSlots<SimulatedCall>(timeline, options.parallel, options.engine);
  const order = stepOrder(steps);
  const start = (step: Step, cause: SimulatedCall | undefined): void => {
    const calls = options.callsOf(step);
    slots.run(cause, calls.length > 0, (reason, release) => {
      service.make(step, calls, reason, (last) => {
        release(last);
        for (const next of order.ended(step)) start(next, last);
      });
    });
  };
  timeline.at(options.engine.startSeconds, () => {
    for (const step of order.first()) start(step, undefined);
  });
  timeline.run();
  return { totalSeconds: timeline.now, calls: service.calls };
};
