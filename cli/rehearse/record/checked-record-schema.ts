import { z } from "zod";

/** Shape of what `check-record --json` prints. */
export const checkedRecordSchema = z.strictObject({
  holds: z.boolean(),
  changed: z
    .array(z.enum(["program", "settings", "state", "account", "outcome"]))
    .describe(
      "Parts that are no longer as they were; where the settings are among them, the account was not read",
    ),
  differences: z
    .strictObject({ program: z.array(z.string()), settings: z.array(z.string()) })
    .describe("Each file that is new, is gone or changed, and each setting that is another one"),
  passes: z.boolean().describe("Whether the rehearsal went through"),
  madeAt: z.string().describe("When the rehearsal was made"),
  operation: z.enum(["up", "destroy"]),
  project: z.string(),
  stack: z.string(),
  args: z.array(z.string()).describe("Options of the run that was rehearsed"),
});
