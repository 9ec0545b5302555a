import { z } from "zod";

/** Shape of the first line that `emulator --json` prints. */
export const emulatorLineSchema = z.strictObject({
  baseUrl: z.url(),
  tokenUrl: z.url(),
  authUrl: z.url(),
  controlUrl: z.url(),
  clientId: z.string(),
  clientSecret: z.string(),
  controlSecret: z.exactOptional(z.string()).describe("Absent if no secret is required"),
});
