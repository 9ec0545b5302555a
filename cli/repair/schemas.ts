import { z } from "zod";
import type { Printed } from "../../provider/kernel/json.js";

/** Shape of a marked object that is in no state of its stack. */
export const foundOrphanSchema = z.strictObject({
  kind: z.string(),
  name: z.string(),
  id: z.string(),
  label: z.string().describe("Project, stack and logical name, as its mark says"),
  standing: z.enum(["left-over", "held", "copy", "former"]),
  pending: z
    .exactOptional(z.literal(true))
    .describe("A run began to make it and did not report: the next up takes it over"),
  heldBy: z
    .exactOptional(z.array(z.strictObject({ stack: z.string(), urn: z.string() })))
    .describe("The resources that hold it or look it up"),
  deleted: z.exactOptional(z.boolean()).describe("Only if it was to be deleted: whether it is"),
  released: z
    .exactOptional(z.boolean())
    .describe("Only if it was to be released: whether its mark is gone"),
  reason: z.exactOptional(z.string()).describe("Why it was not deleted or released"),
});

/** Shape of what `orphans --json` prints. */
export const orphansSchema = z.array(foundOrphanSchema);

const object = { kind: z.string(), name: z.string(), id: z.string() };

const outcome = {
  done: z.exactOptional(z.boolean()).describe("Left out if it was only shown"),
  reason: z.exactOptional(z.string()).describe("Why it was not done"),
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
    file: z.string().describe("The state, which was cut off"),
    copy: z.string().describe("The newest copy of it that is whole"),
    ...outcome,
  }),
  z.strictObject({ action: z.literal("end-process"), pid: z.int(), ...outcome }),
  z.strictObject({ action: z.literal("cancel"), by: z.string(), ...outcome }),
  z.strictObject({
    action: z
      .enum(["record", "refresh"])
      .describe("record: the state does not know it; refresh: it may have another form of it"),
    urn: z.string(),
    ...object,
    ...outcome,
  }),
  z.strictObject({
    action: z.literal("forget"),
    kind: z.string(),
    urn: z.string(),
    why: z
      .enum(["held", "not-made", "again"])
      .describe(
        "held: the state has it; not-made: nothing was made; again: the next run does it again",
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
  steps: z.array(repairStepSchema).describe("In the order in which they are done"),
  notes: z.array(z.string()).describe("What settles itself, or needs a look"),
  left: z.array(z.string()).describe("What a repair cannot settle, and who can"),
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
