import { ConversationError, isConversationError } from "../../provider/kernel/errors.js";

// Runs in browsers too: nothing of Node may be imported here, not even by what is imported.

/** Returns the error for input that was not sent because it breaks a rule. */
export const inputInvalid = (doing: string, rule: string, cause?: unknown): ConversationError =>
  new ConversationError(
    "INPUT_INVALID",
    `Could not ${doing}: ${rule}. Nothing was sent.`,
    {},
    "none",
    cause === undefined ? undefined : { cause },
  );

/**
 * Returns the error for a call that could not be prepared because of its input, such as a getter
 * that throws. Returns a ConversationError unchanged.
 */
const inputFailure = (doing: string, error: unknown): ConversationError =>
  isConversationError(error)
    ? error
    : inputInvalid(doing, "the input cannot be read; see the cause", error);

/**
 * Calls a function that prepares a service call. Any failure that is not a ConversationError
 * becomes `INPUT_INVALID`.
 *
 * @throws ConversationError `INPUT_INVALID` with the cause, if the caller's input cannot be read
 */
export const guardInput = <T>(doing: string, prepare: () => T): T => {
  try {
    return prepare();
  } catch (error) {
    throw inputFailure(doing, error);
  }
};
