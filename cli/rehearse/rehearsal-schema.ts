import { z } from "zod";
import type { Printed } from "../../provider/kernel/json.js";

const namedSchema = z.strictObject({
  kind: z.string(),
  name: z.string(),
  id: z
    .exactOptional(z.string())
    .describe("Absent if the run creates the object, because the service will assign another ID"),
  profile: z.exactOptional(z.string()),
});

const stepSchema = namedSchema.extend({
  urn: z.string(),
  name: z.string().describe("Logical name in the program"),
  operation: z
    .string()
    .describe("Pulumi's name for the operation, such as `create`, `update`, or `delete`"),
  properties: z.array(z.string()).describe("Names of the properties that an update changes"),
});

const refusalSchema = z.strictObject({
  urn: z.exactOptional(z.string()).describe("Absent if the run as a whole is refused"),
  kind: z.exactOptional(z.string()),
  name: z.exactOptional(z.string()),
  operation: z
    .string()
    .describe("The refused operation; `preview` if Pulumi refuses before the run starts"),
  reason: z.string(),
});

const outcomeSchema = z.strictObject({
  passes: z.boolean().describe("Whether the run succeeds"),
  totalSeconds: z.number().min(0).describe("Forecast of the duration"),
  calls: z
    .array(z.string())
    .describe("Calls in order, such as `PUT /channels/<id>`, excluding token calls"),
  steps: z
    .array(stepSchema)
    .describe("Steps that are not refused, even if Pulumi stops at a refusal before it"),
  refusals: z.array(refusalSchema),
  leftOut: z
    .array(z.string())
    .describe("URNs of resources from other packages, which were not run"),
  undeclared: z.array(namedSchema).describe("Objects that belong to no stack after the run"),
  objects: z.int().min(0).describe("Number of objects in the account after the run"),
});

/** Shape of what `rehearse --json` prints. */
export const rehearsalSchema = z.strictObject({
  operation: z.enum(["up", "destroy"]),
  project: z.string(),
  stack: z.string(),
  plan: z.string(),
  parallel: z.int().min(1),
  outcome: outcomeSchema,
  notes: z.array(z.string()).describe("Notes, such as what the rehearsal could not read or copy"),
});

export type NamedObject = Printed<z.output<typeof namedSchema>>;
/** A change that the run makes. */
export type RehearsedStep = Printed<z.output<typeof stepSchema>>;
/** A step that will not be done. */
export type Refusal = Printed<z.output<typeof refusalSchema>>;
export type RehearsedOutcome = Printed<z.output<typeof outcomeSchema>>;
export type Rehearsal = Printed<z.output<typeof rehearsalSchema>>;
