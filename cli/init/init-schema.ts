import { z } from "zod";

/** Shape of what `init --json` prints. */
export const newProjectSchema = z.strictObject({
  folder: z.string(),
  name: z.string(),
  stack: z.string(),
  files: z.array(z.string()),
  stackMade: z.boolean().describe("Whether the stack and its configuration were made"),
  next: z.array(z.string()).describe("Commands that remain, in order"),
});
