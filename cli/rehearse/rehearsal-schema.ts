import { z } from "zod";
import type { Printed } from "../../provider/kernel/json.js";

const seconds = z.number().min(0);

const namedSchema = z.strictObject({
  kind: z.string(),
  name: z.string(),
  id: z
    .exactOptional(z.string())
    .describe("Absent if the run creates the object, because the service will assign another ID"),
  profile: z.exactOptional(z.string()),
});

const obstacleSchema = namedSchema.extend({
  stack: z
    .exactOptional(z.string())
    .describe(
      "The stack that manages it (for this stack, the short name); absent if no stack does",
    ),
});

const stepSchema = z.strictObject({
  urn: z.string(),
  kind: z.string(),
  name: z.string().describe("Logical name in the program"),
  operation: z
    .string()
    .describe("Pulumi's name for the operation, such as `create`, `update`, or `delete`"),
  calls: z.int().min(0).describe("Number of calls in this step, excluding lists that steps share"),
  fromSeconds: seconds.describe(
    "Measured from the start of the run, excluding the preceding preview",
  ),
  toSeconds: seconds,
});

const callSchema = z.strictObject({
  method: z.string().describe("HTTP method, such as `PUT`"),
  template: z.string().describe("Path template, such as `/channels/{id}`"),
  id: z.exactOptional(z.string()).describe("ID of the object that the call concerns or creates"),
  profile: z.exactOptional(z.string()),
  status: z.int(),
  seconds: seconds.describe("Time from the start of the run until the rate allows the call"),
});

const refusalSchema = z.strictObject({
  urn: z.exactOptional(z.string()).describe("Absent if the run as a whole is refused"),
  kind: z.exactOptional(z.string()),
  name: z.exactOptional(z.string()),
  operation: z
    .string()
    .describe("The refused operation; `preview` if Pulumi refuses before the run starts"),
  reason: z.string(),
  inTheWay: z.array(obstacleSchema),
  order: z.array(z.string()).describe("What to do, in order"),
  later: z
    .exactOptional(z.literal(true))
    .describe("True if the refusal appears only after the others are resolved"),
});

const changeSchema = namedSchema.extend({
  change: z.enum(["made", "changed", "deleted"]),
  members: z.exactOptional(z.array(z.string())).describe("Names of changed members"),
});

const outcomeSchema = z.strictObject({
  passes: z.boolean().describe("Whether the run succeeds"),
  totalSeconds: seconds,
  totalCalls: z.int().min(0),
  calls: z
    .array(callSchema)
    .describe("Calls in the order in which they are sent, excluding token calls"),
  steps: z.array(stepSchema),
  refusals: z.array(refusalSchema),
  leftOut: z
    .array(z.string())
    .describe("URNs of resources from other packages, which were not run"),
  changes: z.array(changeSchema).describe("Changes to the account"),
  undeclared: z.array(namedSchema).describe("Objects that belong to no stack after the run"),
  objects: z.int().min(0).describe("Number of objects in the account after the run"),
  isIdempotent: z
    .exactOptional(z.boolean())
    .describe("Whether a second run would find no changes; absent if this one is refused"),
});

const alternativeSchema = z.strictObject({
  switches: z.record(z.string(), z.string()).describe("Switch values, such as `put: keep`"),
  differences: z.array(z.string()).describe("One sentence for each difference"),
  passes: z.boolean(),
});

/** Shape of what `rehearse --json` prints. */
export const rehearsalSchema = z.strictObject({
  operation: z.enum(["up", "destroy"]),
  project: z.string(),
  stack: z.string(),
  plan: z.string(),
  parallel: z.int().min(1),
  outcome: outcomeSchema,
  alternatives: z
    .array(alternativeSchema)
    .describe("Outcomes that differ if the service behaves differently"),
  unaffectedSwitches: z.array(z.string()).describe("Switches that do not affect the outcome"),
  notes: z.array(z.string()).describe("Notes, such as what the rehearsal could not read or copy"),
});

/** Shape of the outcome that `rehearse --from-empty --json` prints. */
const rebuiltSchema = outcomeSchema.omit({ calls: true, changes: true, undeclared: true });

/** An object in the account. */
export type NamedObject = Printed<z.output<typeof namedSchema>>;
/** Who stands in the way of a step. */
export type Obstacle = Printed<z.output<typeof obstacleSchema>>;
/** A change that the run makes. */
export type RehearsedStep = Printed<z.output<typeof stepSchema>>;
/** A call that the run makes. */
export type OutcomeCall = Printed<z.output<typeof callSchema>>;
/** A step that will not be done. */
export type Refusal = Printed<z.output<typeof refusalSchema>>;
/** Changes to the account; names only, no values. */
export type AccountChange = Printed<z.output<typeof changeSchema>>;
/** The outcome of a run. */
export type RehearsedOutcome = Printed<z.output<typeof outcomeSchema>>;
/** How the outcome differs if the service does not behave as assumed. */
export type Alternative = Printed<z.output<typeof alternativeSchema>>;
/** A whole rehearsal, as `--json` prints it. */
export type Rehearsal = Printed<z.output<typeof rehearsalSchema>>;

/** Shape of what the account has beyond the program. */
export const lostSchema = z.strictObject({
  kind: z.string(),
  name: z.string(),
  id: z.string(),
  members: z
    .exactOptional(z.array(z.string()))
    .describe(
      "Members that the created object lacks or has with other values; absent if the whole object is missing",
    ),
  profile: z.exactOptional(z.string()),
  stack: z.exactOptional(z.string()).describe("Another stack that creates it"),
});

/** Shape of what `rehearse --from-empty --json` prints. */
export const fromEmptySchema = z.strictObject({
  project: z.string(),
  stack: z.string(),
  plan: z.string(),
  parallel: z.int().min(1),
  outcome: rebuiltSchema.describe("The outcome of creating everything again"),
  liveObjects: z.int().min(0).describe("Number of objects in the account now"),
  lost: z
    .array(lostSchema)
    .describe("Objects that the program does not create or creates differently"),
  notes: z.array(z.string()),
});

/** A kind whose list the client may not read. */
export const unreadKindSchema = z.strictObject({
  kind: z.string(),
  profile: z.exactOptional(z.string()),
});

export type UnreadKind = Printed<z.infer<typeof unreadKindSchema>>;

/** Shape of what `rehearse --check --json` prints. */
export const checkedRecordSchema = z.strictObject({
  holds: z.boolean(),
  changed: z
    .array(z.enum(["program", "settings", "state", "account", "outcome"]))
    .describe("Changed parts; the account is not read if the settings have changed"),
  differences: z
    .strictObject({ program: z.array(z.string()), settings: z.array(z.string()) })
    .describe("Added, removed, or changed files, and changed settings"),
  unread: z
    .array(unreadKindSchema)
    .describe("Kinds that are not compared because the rehearsal could not read them"),
  passes: z.boolean().describe("Whether the rehearsed run succeeds"),
  madeAt: z.string().describe("Time of the rehearsal"),
  operation: z.enum(["up", "destroy"]),
  project: z.string(),
  stack: z.string(),
  args: z.array(z.string()).describe("Pulumi options for the rehearsed run"),
});
