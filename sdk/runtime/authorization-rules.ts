import { ConversationError } from "../../provider/service/errors.js";
import { tokenAddress } from "../../provider/service/setting-rules.js";

// Runs in browsers too: nothing of Node may be imported here, not even by what is imported.

/** What the caller gave breaks a rule. */
export const invalidInput = (doing: string, rule: string): ConversationError =>
  new ConversationError("INPUT_INVALID", `Could not ${doing}: ${rule}. Nothing was sent.`);

/** Refuses values that are missing or empty. */
export const assertFilled = (doing: string, values: Readonly<Record<string, string>>): void => {
  const empty = Object.entries(values).filter(([, value]) => typeof value !== "string" || !value);
  if (empty.length === 0) return;
  throw invalidInput(doing, `${empty.map(([name]) => name).join(", ")} must be given`);
};

/** An address that is `https:`, or on this machine. */
export const addressOf = (doing: string, name: string, text: string): URL => {
  const parsed = tokenAddress(text);
  if ("rule" in parsed) throw invalidInput(doing, `${name} ${parsed.rule}`);
  return new URL(parsed.value);
};

/** Printable characters of an error code only (RFC 6749 §4.1.2.1). */
export const errorCodeText = (text: string): string =>
  text.replace(/[^\x21-\x7e]/g, "").slice(0, 64);
