import { AssertionError } from "node:assert";

/** Returns the AssertionError for a failed expectation. Never fails. */
export const assertionError = (
  options: NonNullable<ConstructorParameters<typeof AssertionError>[0]>,
): AssertionError => {
  const error = new AssertionError(options);
  // A setting of Node.js 24 (`simple`), which vitest would print as a difference.
  Reflect.deleteProperty(error, "diff");
  return error;
};
