import { ConversationError } from "../../../provider/kernel/errors.js";
import { tokenAddress } from "../../../provider/service/settings/setting-rules.js";

// Runs in browsers too: nothing of Node may be imported here, not even by what is imported.

/** What the caller gave breaks a rule. */
export const invalidInput = (doing: string, rule: string): ConversationError =>
  new ConversationError("INPUT_INVALID", `Could not ${doing}: ${rule}. Nothing was sent.`);

/** Refuses what has no members to read. */
export const assertObject = (doing: string, name: string, value: unknown): void => {
  if (typeof value === "object" && value !== null) return;
  throw invalidInput(doing, `${name} must be an object`);
};

/**
 * Gets something ready from what the caller gave, which may throw wherever it is read.
 *
 * @throws ConversationError `INPUT_INVALID` with the cause
 */
export const preparedInput = <T>(doing: string, prepare: () => T): T => {
  try {
    return prepare();
  } catch (error) {
    if (error instanceof ConversationError) throw error;
    const text = `Could not ${doing}: what was given cannot be read, see the cause. Nothing was sent.`;
    throw new ConversationError("INPUT_INVALID", text, {}, "none", { cause: error });
  }
};

/** Refuses values that are missing or empty. */
export const assertFilled = (doing: string, values: Readonly<Record<string, string>>): void => {
  const empty = Object.entries(values).filter(([, value]) => typeof value !== "string" || !value);
  if (empty.length === 0) return;
  throw invalidInput(doing, `${empty.map(([name]) => name).join(", ")} must be given`);
};

/** An address that is `https:`, or on this machine. */
export const addressOf = (doing: string, name: string, text: string): URL => {
  if (typeof text !== "string") throw invalidInput(doing, `${name} must be text`);
  const parsed = tokenAddress(text);
  if ("rule" in parsed) throw invalidInput(doing, `${name} ${parsed.rule}`);
  return new URL(parsed.value);
};

/** Printable characters of an error code only (RFC 6749 §4.1.2.1). */
export const errorCodeText = (text: string): string =>
  text.replace(/[^\x21-\x7e]/g, "").slice(0, 64);
