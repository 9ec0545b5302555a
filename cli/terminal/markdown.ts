import { inertText } from "../../provider/kernel/text.js";

/**
 * Foreign text as code of Markdown: nothing in it is markup, a mention, an image, a link or HTML, and it
 * ends where it ends.
 *
 * @param longest in characters; the rest is cut
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

/** Before a bar the number of backslashes must stay odd: two of them stand for one, and the bar ends the cell. */
const cell = (markdown: string): string =>
  markdown.replaceAll(/(?<!\\)\\*\|/g, (bar) => `${"\\".repeat(2 * (bar.length - 1) + 1)}|`);

const row = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;

/** A table of Markdown. Foreign text in a cell is given as `codeSpan`. */
export const markdownTable = (
  heading: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] => [row(heading), row(heading.map(() => "---")), ...rows.map(row)];

/** Lines that are folded away under a title; none where there is nothing to fold. */
export const foldedLines = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0
    ? []
    : ["", `<details><summary>${title}</summary>`, "", ...lines, "", "</details>"];
