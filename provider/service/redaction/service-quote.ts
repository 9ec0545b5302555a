import type { ErrorDetails } from "../../kernel/errors.js";

const lettersOf = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, " ");

const withoutStop = (text: string): string => text.replace(/\.$/, "");

/** What the service said, as messages quote it: `(400, 400-143: A required attribute is missing; name: missing)`. */
export const serviceQuote = (details: ErrorDetails): string => {
  const { status, serviceCode, serviceMessage = "", serviceNotes = [] } = details;
  const sentences = new Map([
    [lettersOf(withoutStop(serviceMessage)), withoutStop(serviceMessage)],
  ]);
  for (const { key, value, sent } of serviceNotes) {
    const said = withoutStop([key, value].filter(Boolean).join(": "));
    const named = key && sent ? `${key} (${sent})` : key;
    // Notes often say the message once more.
    sentences.set(lettersOf(said), withoutStop([named, value].filter(Boolean).join(": ")));
  }
  const words = [...sentences.values()].filter(Boolean).join("; ");
  const head = [status, serviceCode].filter(Boolean).join(", ");
  return words === "" ? `(${head})` : `(${head}: ${words})`;
};
