import { inertText } from "../../provider/kernel/text.js";
import { padded, terminalWidth, wrapped } from "./columns.js";

type Row = readonly string[];

export interface TableOptions {
  /** Columns of the terminal that the table keeps to, where it can. Default: 80. */
  readonly width?: number;
  /** Headings of columns that are never broken, such as those of ids and commands. */
  readonly whole?: readonly string[];
}

const gap = "  ";
const leastWidth = 8;

const widest = (cells: readonly string[]): number => Math.max(...cells.map(terminalWidth), 0);

/** A row whose cells hold several lines, as several rows. */
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
 * Rows under a heading, in columns as wide as their widest cell; where that is wider than the terminal
 * the widest are broken into several lines. A cell may hold several lines itself.
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
