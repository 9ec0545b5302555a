import { z } from "zod";
import { rebuiltSchema } from "../outcome/outcome.js";

/** Shape of what the account has beyond the program. */
export const lostSchema = z.strictObject({
  kind: z.string(),
  name: z.string(),
  id: z.string(),
  members: z
    .exactOptional(z.array(z.string()))
    .describe("What the made object lacks or has otherwise; left out: all of it is missing"),
  profile: z.exactOptional(z.string()),
  stack: z.exactOptional(z.string()).describe("Another stack that makes it"),
});

/** Shape of what `rehearse --from-empty --json` prints. */
export const fromEmptySchema = z.strictObject({
  project: z.string(),
  stack: z.string(),
  plan: z.string(),
  parallel: z.int().min(1),
  outcome: rebuiltSchema.describe("What making everything anew comes to"),
  liveObjects: z.int().min(0).describe("Objects in the account now"),
  lost: z.array(lostSchema).describe("What is in the account and not made by the program"),
  notes: z.array(z.string()),
});
