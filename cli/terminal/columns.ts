import { inertText } from "../../provider/kernel/text.js";

/** Characters that take two columns: East Asian wide and full-width ones, and pictures (Unicode, UAX 11). */
const wide =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}])/u;

const segments = new Intl.Segmenter();

/** What a person sees as one character each, with the columns that it takes. */
const charactersOf = (text: string): readonly (readonly [character: string, columns: number])[] =>
  [...segments.segment(text)].map(({ segment }) => [segment, wide.test(segment) ? 2 : 1]);

const plain = /^[\x20-\x7e]*$/;

/** How many columns of a terminal a text takes. */
export const terminalWidth = (text: string): number =>
  plain.test(text)
    ? text.length
    : charactersOf(text).reduce((sum, [, columns]) => sum + columns, 0);

/** A text with spaces up to so many columns. */
export const padded = (text: string, columns: number): string =>
  text + " ".repeat(Math.max(0, columns - terminalWidth(text)));

/** A word in pieces of at most so many columns. */
const pieces = (word: string, most: number): readonly string[] => {
  const found: string[] = [];
  let taken = most;
  for (const [character, columns] of charactersOf(word)) {
    if (taken + columns > most) {
      found.push("");
      taken = 0;
    }
    found[found.length - 1] += character;
    taken += columns;
  }
  return found;
};

/** Whatever others have written into names is shown as text. */
const wordsOf = (text: string): readonly string[] =>
  text.split(/\s+/).filter(Boolean).map(inertText);

/** Words in lines of at most so many columns. */
const linesOf = (words: readonly string[], columns: number): readonly string[] => {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    const joined = `${last} ${word}`;
    if (last !== undefined && terminalWidth(joined) <= columns) lines[lines.length - 1] = joined;
    else lines.push(word);
  }
  return lines;
};

/** A text in lines of at most so many columns; a word that is longer is cut. */
export const wrapped = (text: string, columns: number): readonly string[] =>
  linesOf(
    wordsOf(text).flatMap((word) =>
      terminalWidth(word) <= columns ? [word] : pieces(word, columns),
    ),
    columns,
  );

/** The same, where a word that is longer stays whole, so that it can be copied. */
export const wrappedWords = (text: string, columns: number): readonly string[] =>
  linesOf(wordsOf(text), columns);

/**
 * A text in lines that fit 80 columns. A word that is longer stays whole, so that it can be copied.
 *
 * @param first what the first line begins with; the others are set in as far
 */
export const wrappedText = (text: string, first = ""): readonly string[] => {
  const indent = terminalWidth(first);
  const [line = "", ...others] = linesOf(wordsOf(text), 80 - indent);
  return [first + line, ...others.map((other) => " ".repeat(indent) + other)];
};

/** A text in lines that fit 80 columns, set in by so many; the further ones two more. */
export const indented = (text: string, indent: number): readonly string[] =>
  wrapped(text, 80 - indent - 2).map(
    (line, at) => `${" ".repeat(at === 0 ? indent : indent + 2)}${line}`,
  );

/** A text in one line of at most so many columns; what does not fit is cut, and the cut is shown. */
export const shortened = (text: string, columns: number): string => {
  const line = inertText(text.replace(/\s+/g, " ").trim());
  if (terminalWidth(line) <= columns) return line;
  return `${pieces(line, Math.max(1, columns - 1))[0] ?? ""}…`;
};

/** `1 call`, `3 calls`. */
export const withCount = (count: number, one: string): string =>
  `${count} ${count === 1 ? one : `${one}s`}`;
