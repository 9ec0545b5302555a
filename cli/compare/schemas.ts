import { z } from "zod";

/** Shape of a field whose meaning differs between the two sides. */
export const sideDifferenceSchema = z.strictObject({
  path: z.string().describe("The path in a program, such as roles[custom_bot].callback"),
  a: z
    .exactOptional(z.string())
    .describe(
      "Short JSON text, with references shown as kind and name; absent if there is no value",
    ),
  b: z.exactOptional(z.string()),
});

/** Shape of an object that is on both sides but differs. */
export const differentSchema = z.strictObject({
  kind: z.string(),
  name: z.string(),
  idA: z.string(),
  idB: z.string(),
  matchedBy: z.enum(["name", "logical name", "automatic name", "references"]),
  differences: z.array(sideDifferenceSchema),
});

/** Shape of an object that is on one side only. */
export const oneSidedSchema = z.strictObject({
  kind: z.string(),
  name: z.string(),
  id: z.string(),
});

/** Shape of what `compare a b --json` prints. */
export const comparisonSchema = z.strictObject({
  a: z.string(),
  b: z.string(),
  same: z.boolean().describe("True if nothing differs and both sides were read completely"),
  matched: z.int().min(0).describe("Number of objects that are on both sides"),
  different: z.array(differentSchema),
  onlyInA: z.array(oneSidedSchema),
  onlyInB: z.array(oneSidedSchema),
  unread: z
    .array(z.strictObject({ side: z.enum(["a", "b"]), kind: z.string() }))
    .describe(
      "Kinds that could not be read completely on one side; objects found only on the other side are omitted",
    ),
  consistent: z.boolean().describe("False if an account changed while the command was reading it"),
  notes: z.array(z.string()),
});

/** Shape of what `compare a --save file --json` prints. */
export const savedSchema = z.strictObject({
  file: z.string(),
  objects: z.int().min(0).describe("Number of saved objects"),
  notes: z.array(z.string()).describe("What the command could not read"),
});
