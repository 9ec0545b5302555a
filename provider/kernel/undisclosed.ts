import { isObject } from "./json.js";

/**
 * What the state holds in place of a secret that an import could not or did not read: the service hides
 * it, or it was not to be written to a file. It stands for whatever the program gives first, and is
 * never sent. Part of state files: never changed.
 */
export const undisclosed = "(secret not read by the import)";

/** Whether a value is undisclosed, or holds such a one anywhere inside. */
export const holdsUndisclosed = (value: unknown): boolean =>
  value === undisclosed ||
  (Array.isArray(value) && value.some(holdsUndisclosed)) ||
  (isObject(value) && Object.values(value).some(holdsUndisclosed));
