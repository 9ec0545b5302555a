import type { EngineTimes } from "./engine-slots.js";
import type { Workload } from "./workload.js";

/** What Pulumi took on two cores (measured), in seconds. */
const measured = {
  /** Start and end of a run of the program, where no preview tells. */
  up: 2.4,
  /** A run that needs no program: refresh and destroy. */
  withoutProgram: 1.2,
  /** No run begins sooner. */
  least: 0.5,
  step: 0.02,
};

export type { EngineTimes } from "./engine-slots.js";

/** How long Pulumi itself takes: as long as it took for the preview, which runs the same program. */
export const engineTimes = ({ operation, previewSeconds, steps }: Workload): EngineTimes => {
  const { step, least, withoutProgram } = measured;
  if (operation !== "up") return { startSeconds: withoutProgram, stepSeconds: step };
  if (previewSeconds === undefined) return { startSeconds: measured.up, stepSeconds: step };
  // The steps of the preview come again, and are counted one by one.
  const changing = steps.filter(({ action }) => action !== "none").length;
  return { startSeconds: Math.max(least, previewSeconds - changing * step), stepSeconds: step };
};
