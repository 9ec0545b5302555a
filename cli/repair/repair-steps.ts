import type { z } from "zod";
import type { Printed } from "../printed.js";
import type { repairSchema, repairStepSchema } from "./repair-schema.js";

/** One thing that brings a stack in order after a run that was cut off, in the order in which they are done. */
export type RepairStep = Printed<z.output<typeof repairStepSchema>>;

/** What a repair found and did. */
export type RepairResult = Printed<z.output<typeof repairSchema>>;

/** Whether all is in order now. */
export const isRepaired = ({ applied, steps, left }: RepairResult): boolean =>
  left.length === 0 && steps.every(({ done }) => !applied || done === true);
