import { createRequire } from "node:module";
import { dirname } from "node:path";

/** The folder of this package, whether it runs compiled or from source. */
export const packageRoot = (): string =>
  dirname(createRequire(__filename).resolve("pulumi-conversation/package.json"));
