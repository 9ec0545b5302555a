import { z } from "zod";
import type { Printed } from "../../provider/kernel/json.js";
import { blastRadiusSchema } from "../stack/blast-radius-schema.js";

const object = { kind: z.string(), name: z.string(), id: z.string() };
const managed = { ...object, urn: z.string() };
const who = z.string().describe("Who may have done it, in a sentence without a dot");

const driftChangeSchema = z.strictObject({
  path: z.string().describe("As a program writes it, such as roles[custom_bot].callback"),
  state: z
    .exactOptional(z.string())
    .describe("Short JSON text of what the state has; secrets are [secret]"),
  live: z.exactOptional(z.string()).describe("Short JSON text of what the service holds"),
});

const changedSchema = z.strictObject({
  ...managed,
  changes: z.array(driftChangeSchema),
  modified: z.exactOptional(z.string()).describe("When the service says that it was changed last"),
  who,
});

const deletedSchema = z.strictObject({
  ...managed,
  who,
  sameName: z.exactOptional(z.string()).describe("Id of an object that has the same name now"),
});

const unmanagedSchema = z.strictObject({
  ...object,
  standing: z
    .enum(["foreign", "left-over", "copy", "former"])
    .describe(
      "foreign: without a mark; left-over: this stack made it; copy: a person made it from one of ours; former: of a state that is no more, or that cannot be seen",
    ),
  created: z.exactOptional(z.string()),
  modified: z.exactOptional(z.string()),
  label: z.exactOptional(z.string()).describe("Project, stack and logical name, as its mark says"),
});

const otherStacksSchema = z.strictObject({
  ...object,
  stack: z.string().describe("The stack, as Pulumi names it, or as the mark does"),
});

const uncheckableSchema = z.strictObject({
  ...managed,
  paths: z.array(z.string()),
  changedSince: z
    .exactOptional(z.string())
    .describe("When somebody changed the object, after this stack wrote it last"),
});

/** Shape of what `drift --json` prints. */
export const driftSchema = z.strictObject({
  project: z.string(),
  stack: z.string(),
  readAt: z.iso.datetime(),
  consistent: z.boolean().describe("False if an account changed while it was read"),
  drift: z.boolean().describe("Whether anything was changed or deleted outside, or is in no stack"),
  changed: z.array(changedSchema).describe("What is not as the state has it"),
  deleted: z.array(deletedSchema).describe("What the state has, and the service no longer"),
  unmanaged: z.array(unmanagedSchema).describe("Objects that no stack has"),
  otherStacks: z.array(otherStacksSchema),
  uncheckable: z
    .array(uncheckableSchema)
    .describe(
      "Secrets that the service hides, or that only the environment has (fromEnv), so that it is not known whether they changed",
    ),
  unread: z
    .array(z.strictObject({ kind: z.string(), problem: z.string() }))
    .describe("Kinds that could not be read whole, and why"),
  compared: z.int().min(0).describe("Resources of the stack that were compared"),
  notes: z.array(z.string()),
  deletions: z
    .exactOptional(blastRadiusSchema)
    .describe("With --preview: who stands in the way of what it deletes"),
});

/** A field that differs from the state. */
export type DriftChange = Printed<z.output<typeof driftChangeSchema>>;
/** An object that somebody changed. */
export type ChangedObject = Printed<z.output<typeof changedSchema>>;
/** An object that is gone. */
export type DeletedObject = Printed<z.output<typeof deletedSchema>>;
/** An object that no stack has. */
export type UnmanagedObject = Printed<z.output<typeof unmanagedSchema>>;
/** An object of another stack. */
export type OtherStacksObject = Printed<z.output<typeof otherStacksSchema>>;
/** Secrets that the service hides, so that it is not known whether they changed. */
export type UncheckableSecrets = Printed<z.output<typeof uncheckableSchema>>;
/** The differences between a stack and the service. */
export type DriftResult = Printed<z.output<typeof driftSchema>>;

/** Shape of a field whose meaning differs between the two sides. */
export const sideDifferenceSchema = z.strictObject({
  path: z.string().describe("As a program writes it, such as roles[custom_bot].callback"),
  a: z
    .exactOptional(z.string())
    .describe("Short JSON text; left out if that side has nothing; references are Kind name"),
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
    .describe("Kinds that a side could not read whole: what only the other side has is left out"),
  notes: z.array(z.string()),
});

/** Shape of what `compare a --save file --json` prints. */
export const savedSchema = z.strictObject({
  file: z.string(),
  objects: z.int().min(0).describe("Objects that were saved"),
});
