import type { ErrorDetails } from "../../kernel/errors.js";
import { redact } from "./redaction.js";

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

const redacted = (details: ErrorDetails, secrets: readonly string[]): ErrorDetails => {
  const { serviceCode = "", serviceMessage = "", serviceNotes = [] } = details;
  const shown = (text: string): string => redact(text, secrets);
  return {
    ...details,
    serviceCode: shown(serviceCode),
    serviceMessage: shown(serviceMessage),
    serviceNotes: serviceNotes.map((note) => ({
      ...note,
      key: shown(note.key),
      value: shown(note.value),
    })),
  };
};

const foreignTexts = ({ serviceCode, serviceMessage, serviceNotes = [] }: ErrorDetails): string[] =>
  [serviceCode, serviceMessage, ...serviceNotes.flatMap(({ key, value }) => [key, value])]
    .flatMap((text) => (text ? [withoutStop(text)] : []))
    .sort((one, other) => other.length - one.length);

/**
 * A message of ours without secrets in what it quotes from the service; our own words stay as they
 * are.
 *
 * @param details what the service said, as the error of this message carries it
 */
export const withoutQuotedSecrets = (
  message: string,
  details: ErrorDetails,
  secrets: readonly string[],
): string => {
  const quote = serviceQuote(details);
  if (message.includes(quote))
    return message.replaceAll(quote, () => serviceQuote(redacted(details, secrets)));
  return foreignTexts(details).reduce(
    (text, foreign) => text.replaceAll(foreign, () => redact(foreign, secrets)),
    message,
  );
};
