import type { JsonObject } from "../kernel/json.js";
import { packageVersion } from "../kernel/package.js";

/** The package schema, as Pulumi's tools read it. */
export const packageSchema = (): JsonObject => ({
  name: "conversation",
  version: packageVersion(),
});
