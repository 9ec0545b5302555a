import { ConversationError } from "./errors.js";

/** A bundle may hold a package that cannot be found as a file: then only its use shows whether it is there. */
const isMissing = (name: string): boolean => {
  try {
    require.resolve(name);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "MODULE_NOT_FOUND";
  }
};

/**
 * Asks at the start for a package that is installed only by those who need it: found out later, its
 * absence looks like an outage.
 *
 * @param need what cannot be done without it, as the beginning of a sentence
 * @throws ConversationError `SETTINGS_INVALID` where it is not installed
 */
export const assertInstalled = (name: string, need: string): void => {
  if (isMissing(name)) throw notInstalled(name, need);
};

/** The error about an optional package that is needed and not there. */
export const notInstalled = (name: string, need: string): ConversationError =>
  new ConversationError(
    "SETTINGS_INVALID",
    `${need}, but the package ${name} is not installed. Install it: npm install ${name}`,
  );
