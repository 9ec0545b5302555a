import { z } from "zod";

/** Shape of a marked object that is in no state of its stack. */
export const foundOrphanSchema = z.strictObject({
  kind: z.string(),
  name: z.string(),
  id: z.string(),
  label: z.string().describe("Project, stack and logical name, as its mark tells them"),
  standing: z.enum(["left-over", "held", "copy", "former"]),
  pending: z
    .exactOptional(z.literal(true))
    .describe("A run began to make it and did not report: the next up takes it over"),
  heldBy: z
    .exactOptional(z.array(z.strictObject({ stack: z.string(), urn: z.string() })))
    .describe("The resources that hold it or look it up"),
  deleted: z.exactOptional(z.boolean()).describe("Only where it was to be deleted: whether it is"),
  released: z
    .exactOptional(z.boolean())
    .describe("Only where it was to be released: whether its mark is gone"),
  reason: z.exactOptional(z.string()).describe("Why it was not deleted or released"),
});

/** Shape of what `orphans --json` prints. */
export const orphansSchema = z.array(foundOrphanSchema);
