import { z } from "zod";

const object = {
  kind: z.string(),
  id: z.string(),
  name: z.string().describe("Logical name of the resource"),
};

/** Shape of what `import --json` prints. */
export const importSchema = z.strictObject({
  project: z.string(),
  stack: z.string(),
  applied: z.boolean(),
  objects: z.array(z.strictObject(object)).describe("Objects that are, or would be, imported"),
  left: z.array(z.strictObject({ ...object, reason: z.string() })),
  skipped: z
    .array(z.strictObject({ type: z.string(), name: object.name, reason: z.string() }))
    .optional()
    .describe("With --file: resources in the file that are not imported"),
  notes: z.array(z.string()).describe("What the command could not read"),
});

/** Shape of a resource in a file for `pulumi import --file`. */
export const importEntrySchema = z.strictObject({
  type: z.string(),
  name: z.string(),
  id: z.string(),
  inputs: z.record(z.string(), z.unknown()),
  outputs: z.record(z.string(), z.unknown()),
});

/** Shape of what `import --print` prints. */
export const importFileSchema = z.strictObject({ resources: z.array(importEntrySchema) });
