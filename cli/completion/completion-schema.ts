import { z } from "zod";

/** Shape of what `completion --json` prints. */
export const completionSchema = z.strictObject({
  shell: z.enum(["bash", "zsh", "fish"]),
  script: z.string(),
});
