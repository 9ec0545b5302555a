import { z } from "zod";
import type { Printed } from "../../provider/kernel/json.js";
import { blastRadiusSchema } from "../inventory/blast-radius-schema.js";

const object = { kind: z.string(), name: z.string(), id: z.string() };
const managed = { ...object, urn: z.string() };
const who = z.string().describe("Who may have made the change, as text without a period");

const driftChangeSchema = z.strictObject({
  path: z.string().describe("The path in a program, such as roles[custom_bot].callback"),
  state: z
    .exactOptional(z.string())
    .describe("The value in the state, as short JSON text; [secret] for a secret"),
  live: z.exactOptional(z.string()).describe("The value in the service, as short JSON text"),
});

const changedSchema = z.strictObject({
  ...managed,
  changes: z.array(driftChangeSchema),
  modified: z
    .exactOptional(z.string())
    .describe("The time of the last change, according to the service"),
  who,
});

const deletedSchema = z.strictObject({
  ...managed,
  who,
  elsewhere: z
    .exactOptional(z.literal(true))
    .describe(
      "True if the account has none of the stack's objects, so that its settings may lead to another account",
    ),
  sameName: z.exactOptional(z.string()).describe("ID of an object that now has the same name"),
});

const unmanagedSchema = z.strictObject({
  ...object,
  standing: z
    .enum(["foreign", "leftover", "copy", "former"])
    .describe(
      "`foreign`: has no mark. `leftover`: this stack created it. `copy`: a person copied it from this stack's object. `former`: is from a state that no longer exists or that the command cannot read",
    ),
  created: z.exactOptional(z.string()),
  modified: z.exactOptional(z.string()),
  label: z
    .exactOptional(z.string())
    .describe("Project, stack, and logical name in the object's mark"),
});

const otherStacksSchema = z.strictObject({
  ...object,
  stack: z.string().describe("The stack that manages the object, or the stack named in its mark"),
});

const uncheckableSchema = z.strictObject({
  ...managed,
  paths: z.array(z.string()),
  changedSince: z
    .exactOptional(z.string())
    .describe("The time of the last change, if later than this stack's last write"),
});

/** Shape of what `drift --json` prints. */
export const driftSchema = z.strictObject({
  project: z.string(),
  stack: z.string(),
  readAt: z.iso.datetime(),
  consistent: z.boolean().describe("False if an account changed while the command was reading it"),
  drift: z.boolean().describe("Whether `changed`, `deleted`, or `unmanaged` contains an object"),
  changed: z.array(changedSchema).describe("Objects that differ from the state"),
  deleted: z.array(deletedSchema).describe("Objects that no longer exist"),
  unmanaged: z.array(unmanagedSchema).describe("Objects that belong to no stack"),
  otherStacks: z.array(otherStacksSchema),
  uncheckable: z
    .array(uncheckableSchema)
    .describe("Secrets that the command could not check for changes"),
  unread: z
    .array(z.strictObject({ kind: z.string(), problem: z.string() }))
    .describe("Kinds that the command could not read completely, with the reason for each"),
  compared: z.int().min(0).describe("Number of compared stack resources"),
  notes: z.array(z.string()),
  deletions: z
    .exactOptional(blastRadiusSchema)
    .describe("With --preview: what blocks the previewed deletions"),
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
export const oneSidedSchema = z.strictObject(object);

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
