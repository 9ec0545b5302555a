const mostCharacters = 40;

const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A text without what a terminal acts on or hides: control and format characters, line ends. */
export const cleaned = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ");

/** At most so many characters; what is longer ends with `…`, and no character is cut in two. */
export const abbreviated = (text: string, most: number): string => {
  if (text.length <= most) return text;
  const characters = [...text];
  return characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : text;
};

const escaped = (character: string): string =>
  `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;

/** A text in quotes as a message may show it: nothing that a terminal acts on, at most 40 characters. */
export const quoted = (text: string): string => {
  const characters = [...text.slice(0, 2 * mostCharacters + 1)];
  const isLong = characters.length > mostCharacters;
  const part = isLong ? characters.slice(0, mostCharacters).join("") : text;
  const shown = JSON.stringify(part).replace(unprintable, escaped);
  return isLong ? `${shown}… (${text.length} characters)` : shown;
};
