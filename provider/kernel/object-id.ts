import { ConversationError } from "./errors.js";
import { quoted } from "./text.js";

/** Maximum length of an object's ID, in characters. */
const longestId = 128;

const allowed = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;

/**
 * Whether a value can be an object's ID: a letter or digit, followed by up to 127 letters, digits,
 * `_`, or `-`. Any other character could let the ID escape its path segment.
 */
export const isId = (id: unknown): id is string =>
  typeof id === "string" && id.length <= longestId && allowed.test(id);

/**
 * Rejects an ID that could lead to another path, such as `..` or empty text, before any URL is
 * built from it.
 *
 * @param what the ID identifies, such as `channel`, for the message
 * @throws ConversationError `ID_INVALID`
 */
export const assertId = (id: string, what: string): void => {
  if (isId(id)) return;
  const text = typeof id === "string" ? quoted(id) : `a value of type ${typeof id}`;
  throw new ConversationError(
    "ID_INVALID",
    `${text} cannot be the ID of ${what}: IDs consist of 1 to ${longestId} letters, digits, "_", or "-", and start with a letter or digit. Nothing was sent. Check the ID in the program, the import, or the stack's state.`,
  );
};
