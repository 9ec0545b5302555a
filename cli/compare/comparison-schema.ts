import { z } from "zod";

const object = { kind: z.string(), name: z.string(), id: z.string() };

/** Shape of a field that means something else on the two sides. */
export const sideDifferenceSchema = z.strictObject({
  path: z.string().describe("As a program writes it, such as roles[custom_bot].callback"),
  a: z
    .exactOptional(z.string())
    .describe("Short JSON text; left out where that side has nothing; references are Kind name"),
  b: z.exactOptional(z.string()),
});

/** Shape of an object that is on both sides, and not the same. */
export const differentSchema = z.strictObject({
  kind: z.string(),
  name: z.string(),
  idA: z.string(),
  idB: z.string(),
  matchedBy: z.enum(["name", "logical name", "automatic name", "references"]),
  differences: z.array(sideDifferenceSchema),
});

/** Shape of an object that is on one side only. */
export const oneSidedSchema = z.strictObject(object);

/** Shape of what `compare a b --json` prints. */
export const comparisonSchema = z.strictObject({
  a: z.string(),
  b: z.string(),
  same: z.boolean().describe("Nothing differs, and both sides could be read whole"),
  matched: z.int().min(0).describe("Objects found on both sides"),
  different: z.array(differentSchema),
  onlyInA: z.array(oneSidedSchema),
  onlyInB: z.array(oneSidedSchema),
  unread: z
    .array(z.strictObject({ side: z.enum(["a", "b"]), kind: z.string() }))
    .describe("Kinds that a side could not read whole: what only the other side has is not told"),
  notes: z.array(z.string()),
});

/** Shape of what `compare a --save file --json` prints. */
export const savedSchema = z.strictObject({
  file: z.string(),
  objects: z.int().min(0).describe("Objects that were saved"),
});
