import { z } from "zod";
import type { TenantFindings } from "../../provider/service/settings.js";

const found = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));

/** Shape of what `probe --json` prints, and of the file that it writes. */
export const findingsSchema = z.strictObject({
  version: z.literal(1),
  probedAt: z.iso.datetime(),
  baseUrl: z.string().describe("The tenant that it was found out on"),
  calls: z.int().min(0).describe("Calls that it took"),
  switches: found.describe("By the names of the emulator's switches"),
  settings: found.describe("By the names of settings"),
  observed: found.describe("What else was seen"),
  open: z.record(z.string(), z.string()).describe("What could not be found out, and why"),
}) satisfies z.ZodType<TenantFindings>;

/** Shape of what `probe --clean --json` prints. */
export const cleanedSchema = z.strictObject({
  removed: z.int().min(0).describe("Objects of an earlier probe that were looked up and removed"),
});

/** What `probe --clean --json` prints. */
export type Cleaned = z.output<typeof cleanedSchema>;
