import { z } from "zod";
import type { Printed } from "../../printed.js";

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
