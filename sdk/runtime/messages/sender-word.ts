import { isSenderKind, type SenderKind } from "./message-types.js";

const neutral = "platform_";

/** `platform_agent` as it travels: with the vendor's own word, which the setting `platformName` holds. */
export const senderWord = (kind: SenderKind, platformName: string): string =>
  kind.startsWith(neutral) ? `${platformName}_${kind.slice(neutral.length)}` : kind;

/**
 * The kind that a word on the wire stands for. Words that are no kind come back as they are, such
 * as `system`.
 */
export const senderKindOf = (word: string, platformName: string): SenderKind | (string & {}) => {
  const own = `${platformName}_`;
  const kind = word.startsWith(own) ? neutral + word.slice(own.length) : word;
  return isSenderKind(kind) ? kind : word;
};
