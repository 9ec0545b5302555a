import { inertText } from "../../provider/kernel/text.js";

/**
 * Characters with a width of two columns: East Asian wide and full-width ones, and pictures
 * (Unicode, UAX 11).
 */
const wide =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}])/u;

const segments = new Intl.Segmenter();

/** The characters as a person sees them, each with its width in columns. */
const charactersOf = (text: string): readonly (readonly [character: string, columns: number])[] =>
  [...segments.segment(text)].map(({ segment }) => [segment, wide.test(segment) ? 2 : 1]);

const plain = /^[\x20-\x7e]*$/;

export const terminalWidth = (text: string): number =>
  plain.test(text)
    ? text.length
    : charactersOf(text).reduce((sum, [, columns]) => sum + columns, 0);

export const padded = (text: string, columns: number): string =>
  text + " ".repeat(Math.max(0, columns - terminalWidth(text)));

/** A word in pieces of limited width. */
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

/** Foreign text inside names is made inert. */
const wordsOf = (text: string): readonly string[] =>
  text.split(/\s+/).filter(Boolean).map(inertText);

/** Words in lines of limited width. */
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

/** Wraps text to lines of limited width, breaking words that are too long. */
export const wrapped = (text: string, columns: number): readonly string[] =>
  linesOf(
    wordsOf(text).flatMap((word) =>
      terminalWidth(word) <= columns ? [word] : pieces(word, columns),
    ),
    columns,
  );

/** Wraps text to lines of limited width. Keeps long words intact so that they can be copied. */
export const wrappedWords = (text: string, columns: number): readonly string[] =>
  linesOf(wordsOf(text), columns);

/**
 * Wraps text to 80 columns. Keeps long words intact so that they can be copied.
 *
 * @param first beginning of the first line; its width is the indent of the other lines
 */
export const wrappedText = (text: string, first = ""): readonly string[] => {
  const indent = terminalWidth(first);
  const [line = "", ...others] = linesOf(wordsOf(text), 80 - indent);
  return [first + line, ...others.map((other) => " ".repeat(indent) + other)];
};

/**
 * Wraps text to 80 columns and indents it; continuation lines have two more spaces of indentation.
 */
export const indented = (text: string, indent: number): readonly string[] =>
  wrapped(text, 80 - indent - 2).map(
    (line, at) => `${" ".repeat(at === 0 ? indent : indent + 2)}${line}`,
  );

/** Returns text on one line of limited width; truncated text ends with `…`. */
export const shortened = (text: string, columns: number): string => {
  const line = inertText(text.replace(/\s+/g, " ").trim());
  if (terminalWidth(line) <= columns) return line;
  return `${pieces(line, Math.max(1, columns - 1))[0] ?? ""}…`;
};

/** Returns a count with its noun, such as `1 call` or `3 calls`. */
export const withCount = (count: number, one: string): string =>
  `${count} ${count === 1 ? one : `${one}s`}`;

type Row = readonly string[];

interface TableOptions {
  /** Columns of the terminal to which the table is limited, if possible. Default: 80. */
  readonly width?: number;
  /** Headings of columns that are never broken, such as those of IDs and commands. */
  readonly whole?: readonly string[];
}

const gap = "  ";
const leastWidth = 8;

const widest = (cells: readonly string[]): number => Math.max(...cells.map(terminalWidth), 0);

/** A row whose cells have several lines, as several rows. */
const unfolded = (row: Row): readonly Row[] => {
  const cells = row.map((cell) => cell.split("\n"));
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, index) => cells.map((lines) => lines[index] ?? ""));
};

/** Takes room from the widest column that may be broken, until all fit or none has any left. */
const fitted = (widths: readonly number[], isWhole: readonly boolean[], most: number): number[] => {
  const left = [...widths];
  const sum = () => left.reduce((total, width) => total + width, gap.length * (left.length - 1));
  while (sum() > most) {
    const breakable = left.map((width, column) =>
      isWhole[column] || width <= leastWidth ? 0 : width,
    );
    const longest = Math.max(...breakable);
    if (longest === 0) break;
    left[breakable.indexOf(longest)] = longest - 1;
  }
  return left;
};

const broken = (cell: string, width: number): string =>
  cell
    .split("\n")
    .flatMap((line) => (terminalWidth(line) <= width ? [line] : wrapped(line, width)))
    .join("\n");

/**
 * Formats rows under a heading row, with columns as wide as their widest cell. If the table is
 * wider than the terminal, the text in the widest columns is wrapped. A cell can contain several
 * lines.
 */
export const textTable = (
  heading: Row,
  given: readonly Row[],
  { width = 80, whole = [] }: TableOptions = {},
): string[] => {
  const rows = given.map((row) => row.map((cell) => cell.split("\n").map(inertText).join("\n")));
  const natural = heading.map((_, column) =>
    widest([heading, ...rows].flatMap((row) => (row[column] ?? "").split("\n"))),
  );
  const isWhole = heading.map((name) => whole.includes(name));
  const widths = fitted(natural, isWhole, width);
  const inColumns = (row: Row): Row => row.map((cell, column) => broken(cell, widths[column] ?? 0));
  const line = (row: Row) =>
    widths
      .map((columns, column) => padded(row[column] ?? "", columns))
      .join(gap)
      .trimEnd();
  const lines = (row: Row) => unfolded(inColumns(row)).map(line);
  const rule = widths.map((columns) => "─".repeat(columns)).join(gap);
  return [...lines(heading), rule, ...rows.flatMap(lines)];
};

/**
 * Formats untrusted text, shortened if necessary, as Markdown code. No part of the text is
 * interpreted as markup, a mention, an image, a link, or HTML, and the text cannot end the code
 * early.
 */
export const codeSpan = (text: string, longest = 300): string => {
  const characters = [...inertText(text.replaceAll(/[\p{Zl}\p{Zp}\s]+/gu, " "))];
  const cut = characters.length > longest ? [...characters.slice(0, longest - 1), "…"] : characters;
  const plain = cut.join("");
  const fences = plain.match(/`+/g) ?? [];
  const fence = "`".repeat(Math.max(0, ...fences.map(({ length }) => length)) + 1);
  const edge = fences.length > 0 || plain.trim() === "" || plain.trim() !== plain ? " " : "";
  return `${fence}${edge}${plain}${edge}${fence}`;
};

/**
 * Before a bar the number of backslashes must stay odd: two of them stand for one, and the bar ends
 * the cell.
 */
const cell = (markdown: string): string =>
  markdown.replaceAll(/(?<!\\)\\*\|/g, (bar) => `${"\\".repeat(2 * (bar.length - 1) + 1)}|`);

const row = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;

/** Creates a Markdown table. Format untrusted cell text with `codeSpan`. */
export const markdownTable = (
  heading: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] => [row(heading), row(heading.map(() => "---")), ...rows.map(row)];

/** Returns lines as a collapsible Markdown section with a title; empty if there are no lines. */
export const foldedLines = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0
    ? []
    : ["", `<details><summary>${title}</summary>`, "", ...lines, "", "</details>"];

/** Returns text as one shell word, whatever its content; quotes it only if necessary. */
export const shellWord = (text: string): string =>
  /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/**
 * Whether to use colors on a stream. NO_COLOR disables them (no-color.org). Otherwise, FORCE_COLOR
 * enables them or, if `0` or `false`, disables them. By default, every terminal except a dumb one
 * has colors.
 */
export const wantsColour = (
  { isTTY }: { readonly isTTY?: boolean },
  { NO_COLOR, FORCE_COLOR, TERM }: NodeJS.ProcessEnv = process.env,
): boolean => {
  if (NO_COLOR) return false;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== "")
    return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
  return isTTY === true && TERM !== "dumb";
};
