import { z } from "zod";
import type { Printed } from "../../provider/kernel/json.js";

const object = { kind: z.string(), name: z.string(), id: z.string() };

const outcome = {
  done: z.exactOptional(z.boolean()).describe("Absent without --apply"),
  reason: z.exactOptional(z.string()).describe("Why the step was not carried out"),
};

/** Shape of one step that puts a stack in order. */
const repairStepSchema = z.discriminatedUnion("action", [
  z.strictObject({
    action: z.literal("remove-cut-off-files"),
    files: z.array(z.string()),
    ...outcome,
  }),
  z.strictObject({
    action: z.literal("restore-state"),
    file: z.string().describe("The truncated state file"),
    copy: z.string().describe("The newest complete copy of the state"),
    ...outcome,
  }),
  z.strictObject({ action: z.literal("cancel"), by: z.string(), ...outcome }),
  z.strictObject({
    action: z
      .enum(["record", "refresh"])
      .describe(
        "`record`: the object is not in the state; `refresh`: the state may contain other values",
      ),
    urn: z.string(),
    ...object,
    ...outcome,
  }),
  z.strictObject({
    action: z.literal("forget"),
    kind: z.string(),
    urn: z.string(),
    why: z
      .enum(["held", "not-made", "deletion", "again"])
      .describe(
        "`held`: the object is in the state; `not-made`: no object exists yet; `deletion`: the object may already be deleted; `again`: the next run repeats the operation",
      ),
    ...outcome,
  }),
  z.strictObject({ action: z.literal("delete"), label: z.string(), ...object, ...outcome }),
]);

/** Shape of what `repair --json` prints. */
export const repairSchema = z.strictObject({
  project: z.string(),
  stack: z.string(),
  applied: z.boolean(),
  steps: z.array(repairStepSchema).describe("The steps, in order"),
  notes: z.array(z.string()).describe("What resolves itself or needs your attention"),
  unread: z
    .array(z.strictObject({ kind: z.string(), problem: z.string() }))
    .describe("Kinds that the command could not read completely, with the reason for each"),
  consistent: z.boolean().describe("False if an account changed while the command was reading it"),
  left: z.array(z.string()).describe("What the command cannot repair, and how to proceed"),
});

/**
 * One step that puts a stack in order after a run was cut off; steps are in the order in which they
 * are done.
 */
export type RepairStep = Printed<z.output<typeof repairStepSchema>>;

/** What a repair found and did. */
export type RepairResult = Printed<z.output<typeof repairSchema>>;

/** Whether everything is in order now. */
export const isRepaired = ({ applied, steps, left }: RepairResult): boolean =>
  left.length === 0 && steps.every(({ done }) => !applied || done === true);
