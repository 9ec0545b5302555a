import { codeSpan, foldedLines, markdownTable, wrapped } from "./columns.js";

/** Lines of text that belong together, within 80 columns. */
export type Block = readonly string[];

/** The text of a report: its blocks, with an empty line between two of them. */
export const textReport = (...blocks: readonly Block[]): string =>
  `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;

/** A title with its lines; empty if there are none. */
export const titled = (title: string, lines: Block): readonly Block[] =>
  lines.length === 0 ? [] : [wrapped(title, 80), lines];

/** Sentences about what could not be read, within 80 columns. */
export const notReadLines = (notes: readonly string[]): Block =>
  notes.flatMap((note) => wrapped(`Not read: ${note}`, 80));

/** Nobody reads longer lists. */
const mostListed = 50;

/** The lines of the first things, and the number of the others. */
export const listed = <T>(things: readonly T[], linesOf: (thing: T) => Block): Block => {
  const more = things.length - mostListed;
  const lines = things.slice(0, mostListed).flatMap(linesOf);
  return more > 0 ? [...lines, `  … and ${more} more; --json shows all`] : lines;
};

/** Foreign text, such as the name of an object: no renderer interprets it. */
export interface Foreign {
  readonly foreign: string;
}

/** The content of a table cell: our words and those of others. */
export type Cell = string | Foreign | readonly (string | Foreign)[];

/** A part of a report that a terminal shows as lines, and a page as a table. */
export interface ReportSection {
  readonly title: string;
  readonly lines: Block;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  /** A page folds it away under this title. */
  readonly folded?: string;
}

/** Sections as a terminal shows them. */
export const sectionBlocks = (sections: readonly ReportSection[]): readonly Block[] =>
  sections.flatMap(({ title, lines }) => titled(`${title}:`, lines));

const cellMarkdown = (cell: Cell): string => {
  if (typeof cell === "string") return cell;
  return "foreign" in cell ? codeSpan(cell.foreign) : cell.map(cellMarkdown).join("");
};

/** The hosts of pull requests take comments of about 65,000 characters. */
const mostRows = 100;

/**
 * Sections as lines of Markdown, each after an empty line.
 *
 * @param inFull command that shows what does not fit into a comment
 */
export const sectionMarkdown = (
  sections: readonly ReportSection[],
  inFull: string,
): readonly string[] =>
  sections.flatMap(({ title, columns, rows, folded }) => {
    if (rows.length === 0) return [];
    const shown = rows.slice(0, mostRows).map((row) => row.map(cellMarkdown));
    const more = rows.length - mostRows;
    const lines = [
      ...markdownTable(columns, shown),
      ...(more > 0 ? ["", `… and ${more} more: \`${inFull}\``] : []),
    ];
    return folded === undefined ? ["", `### ${title}`, "", ...lines] : foldedLines(folded, lines);
  });
