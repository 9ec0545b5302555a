import { z } from "zod";
import type { Printed } from "../../provider/kernel/json.js";

const seconds = z.number().min(0);

const namedSchema = z.strictObject({
  kind: z.string(),
  name: z.string(),
  id: z
    .exactOptional(z.string())
    .describe("Left out if the run makes the object: the service gives it another one"),
  profile: z.exactOptional(z.string()),
});

const obstacleSchema = namedSchema.extend({
  stack: z
    .exactOptional(z.string())
    .describe("Who has it: short name of this stack, or another stack; left out: nobody"),
});

const stepSchema = z.strictObject({
  urn: z.string(),
  kind: z.string(),
  name: z.string().describe("Logical name in the program"),
  operation: z.string().describe("create, update, delete, replace or read, as Pulumi says"),
  calls: z.int().min(0).describe("For it alone; lists that steps share are not counted"),
  fromSeconds: seconds.describe("From the start of pulumi up, without the preview before it"),
  toSeconds: seconds,
});

const callSchema = z.strictObject({
  method: z.string().describe("Such as PUT"),
  template: z.string().describe("Such as /channels/{id}"),
  id: z.exactOptional(z.string()).describe("Of the object that the call is about or has made"),
  profile: z.exactOptional(z.string()),
  status: z.int(),
  seconds: seconds.describe("From the start to the moment at which its rate lets it go"),
});

const refusalSchema = z.strictObject({
  urn: z.exactOptional(z.string()).describe("Left out if the run as a whole is refused"),
  kind: z.exactOptional(z.string()),
  name: z.exactOptional(z.string()),
  operation: z.string().describe("preview if Pulumi refuses before anything is done"),
  reason: z.string(),
  inTheWay: z.array(obstacleSchema),
  order: z.array(z.string()).describe("What to do, in this order"),
  later: z
    .exactOptional(z.literal(true))
    .describe("Comes to light only after the others are out of the way"),
});

const changeSchema = namedSchema.extend({
  change: z.enum(["made", "changed", "deleted"]),
  members: z.exactOptional(z.array(z.string())).describe("Members that differ; no values"),
});

const outcomeSchema = z.strictObject({
  passes: z.boolean().describe("Whether everything gets done"),
  totalSeconds: seconds,
  totalCalls: z.int().min(0),
  calls: z.array(callSchema).describe("In the order in which they are sent; without token calls"),
  steps: z.array(stepSchema),
  refusals: z.array(refusalSchema),
  leftOut: z
    .array(z.string())
    .describe("URNs of resources of other packages, and of smoke tests: they were not run"),
  changes: z.array(changeSchema).describe("How the account changes"),
  undeclared: z.array(namedSchema).describe("Objects that no stack declares, afterwards"),
  objects: z.int().min(0).describe("Objects in the account afterwards"),
  isIdempotent: z
    .exactOptional(z.boolean())
    .describe("Whether a second run would find nothing to do; left out if this one is refused"),
});

const alternativeSchema = z.strictObject({
  switches: z.record(z.string(), z.string()).describe("Such as put: keep"),
  differences: z.array(z.string()).describe("Each a sentence"),
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
    .describe("How it ends if the service behaves otherwise; only what differs"),
  unaffectedSwitches: z.array(z.string()).describe("Switches that make no difference"),
  notes: z.array(z.string()).describe("What could not be seen or copied"),
});

/** Shape of the outcome that `rehearse --from-empty --json` prints. */
const rebuiltSchema = outcomeSchema.omit({ calls: true, changes: true, undeclared: true });

/** An object of the account. */
export type NamedObject = Printed<z.output<typeof namedSchema>>;
/** Who stands in the way of a step. */
export type Obstacle = Printed<z.output<typeof obstacleSchema>>;
/** A change that the run makes. */
export type RehearsedStep = Printed<z.output<typeof stepSchema>>;
/** A call that the run makes. */
export type OutcomeCall = Printed<z.output<typeof callSchema>>;
/** A step that will not be done. */
export type Refusal = Printed<z.output<typeof refusalSchema>>;
/** How the account changes; names only, no values. */
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
      "Members that the made object lacks or has with other values; left out if all of it is missing",
    ),
  profile: z.exactOptional(z.string()),
  stack: z.exactOptional(z.string()).describe("Another stack that makes it"),
});

/** Shape of what `rehearse --from-empty --json` prints. */
export const fromEmptySchema = z.strictObject({
  project: z.string(),
  stack: z.string(),
  plan: z.string(),
  parallel: z.int().min(1),
  outcome: rebuiltSchema.describe("The outcome of making everything anew"),
  liveObjects: z.int().min(0).describe("Objects in the account now"),
  lost: z.array(lostSchema).describe("What is in the account and not made by the program"),
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
    .describe("Parts that are no longer as they were; with other settings the account is not read"),
  differences: z
    .strictObject({ program: z.array(z.string()), settings: z.array(z.string()) })
    .describe("Each file that is new, is gone or changed, and each setting that is another one"),
  unread: z
    .array(unreadKindSchema)
    .describe("Kinds that the rehearsal could not read: they are not compared"),
  passes: z.boolean().describe("Whether the rehearsal went through"),
  madeAt: z.string().describe("When the rehearsal was made"),
  operation: z.enum(["up", "destroy"]),
  project: z.string(),
  stack: z.string(),
  args: z.array(z.string()).describe("Options of the run that was rehearsed"),
});
