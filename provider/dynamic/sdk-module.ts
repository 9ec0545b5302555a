import { createRequire } from "node:module";

/**
 * Loads a module from the location of the project's Pulumi SDK, because without hoisting, the SDK's
 * libraries are accessible only from there.
 *
 * @throws Error if the SDK has no such module
 */
export const loadWithSdk = (path: string) =>
  createRequire(createRequire(__filename).resolve("@pulumi/pulumi/package.json"))(path);
