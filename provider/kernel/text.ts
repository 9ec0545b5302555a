/**
 * Characters that move a cursor, color the text that follows, change its direction, or are
 * invisible: control characters, line and paragraph separators, annotations, half characters, and
 * those that Unicode lets programs show as nothing, such as direction marks and zero-width spaces.
 * Joiners and variation selectors stay, because emoji and scripts need them.
 */
const active =
  /(?!\u200c|\u200d|\p{Variation_Selector})[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

const escapes = (characters: string): string =>
  characters
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");

/**
 * Makes untrusted text safe to read by replacing control and invisible characters with their
 * escapes, such as `\u001b`.
 */
export const inertText = (text: string): string => text.replaceAll(active, escapes);

const esc = "\u001b";

/** Colors and weights as this package and Pulumi write them; never sequences that hide or move. */
const colours = new RegExp(`${esc}\\[(?:0|1|2|22|3\\d|38;5;\\d{1,3}|39)m`, "g");

/**
 * Lines of these forms are commands to the runners of GitHub, Azure, and TeamCity, whatever their
 * origin.
 */
const runnerCommands = /^[^\S\r\n\u2028\u2029]*::|##(?=\[|vso\[|teamcity\[)/gm;

/**
 * Makes a command's output safe for terminals and pipeline logs. Keeps line breaks, tabs and, if
 * requested, colors. The escapes have the same meaning in JSON.
 */
export const inertOutput = (text: string, coloured: boolean): string => {
  const lines = (part: string): string =>
    part.replaceAll(active, (one) => (one === "\n" || one === "\t" ? one : escapes(one)));
  const safe = coloured
    ? text
        .split(colours)
        .map(lines)
        .flatMap((part, place) => [part, text.match(colours)?.[place] ?? ""])
        .join("")
    : lines(text);
  return safe.replaceAll(
    runnerCommands,
    (start) => `${start.slice(0, -1)}${escapes(start.slice(-1))}`,
  );
};

const mostCharacters = 40;

const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Replaces each run of characters that a terminal interprets or hides (control and format
 * characters, and line endings) with a space.
 */
export const cleaned = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ");

/** Limits the length of text without splitting a character; truncated text ends with `…`. */
export const abbreviated = (text: string, most: number): string => {
  if (text.length <= most) return text;
  const characters = [...text];
  return characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : text;
};

const escaped = (character: string): string =>
  `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;

/**
 * Quotes text for messages, escaping characters that a terminal would interpret and keeping at most
 * 40 characters.
 */
export const quoted = (text: string): string => {
  const characters = [...text.slice(0, 2 * mostCharacters + 1)];
  const isLong = characters.length > mostCharacters;
  const part = isLong ? characters.slice(0, mostCharacters).join("") : text;
  const shown = JSON.stringify(part).replace(unprintable, escaped);
  return isLong ? `${shown}… (${text.length} characters)` : shown;
};

/** The number of letters to add, remove, or replace to turn one text into the other. */
const distance = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (const [place, letter] of [...one].entries()) {
    const next = [place + 1];
    for (const [at, wanted] of [...other].entries()) {
      const [left = 0, above = 0, before = 0] = [next[at], row[at + 1], row[at]];
      next.push(Math.min(left + 1, above + 1, before + (letter === wanted ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
};

const mostTypos = 2;

/**
 * Returns the word that was probably meant, ignoring case; undefined if there is none. At most two
 * letters, and fewer than half of the word's letters, may differ.
 */
export const nearestWord = (text: string, words: readonly string[]): string | undefined => {
  const candidates = words
    .filter((word) => Math.abs(word.length - text.length) <= mostTypos)
    .map((word) => ({ word, off: distance(text.toLowerCase(), word.toLowerCase()) }))
    .filter(({ word, off }) => off <= mostTypos && off < word.length / 2);
  return candidates.sort((a, b) => a.off - b.off)[0]?.word;
};

/** Returns a hint such as `; did you mean plan?`; empty if no word is similar. */
export const nearestHint = (text: string, words: readonly string[]): string => {
  const meant = nearestWord(text, words);
  return meant === undefined ? "" : `; did you mean ${meant}?`;
};

const sorts: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  bigint: "a number",
  boolean: "true or false",
  function: "a function",
  undefined: "nothing",
};

/**
 * Returns the type of a value in words for a message, never the value itself, which may be a
 * secret.
 */
export const valueSort = (value: unknown): string => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (value instanceof Promise) return "a promise";
  return sorts[typeof value] ?? "an object";
};

/** Formats a number of milliseconds, for example as `1 min 15 s`. */
export const durationText = (ms: number): string => {
  const seconds = Math.ceil(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const parts = [
    hours && `${hours} h`,
    minutes && `${minutes} min`,
    hours ? 0 : seconds % 60 && `${seconds % 60} s`,
  ];
  return parts.filter(Boolean).join(" ") || "0 s";
};

/**
 * Returns a string as YAML takes it for text: in quotes if it may look like a number, a date, or a
 * word of YAML.
 */
export const yamlText = (value: string): string =>
  /^[A-Za-z][\w./-]*$/.test(value) && !/^(true|false|yes|no|on|off|null|y|n)$/i.test(value)
    ? value
    : JSON.stringify(value);

/** Returns a pattern for whole texts, in which `*` stands for any text. */
export const wildcardPattern = (text: string, flags = ""): RegExp => {
  const parts = text.split("*").map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, `su${flags}`);
};
