type Row = readonly string[];

const widest = (cells: readonly string[]): number =>
  Math.max(...cells.map((cell) => cell.length), 0);

/** A row whose cells hold several lines, as several rows. */
const unfolded = (row: Row): readonly Row[] => {
  const cells = row.map((cell) => cell.split("\n"));
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, index) => cells.map((lines) => lines[index] ?? ""));
};

/** Rows under a heading, in columns as wide as their widest cell. A cell may hold several lines. */
export const textTable = (heading: Row, rows: readonly Row[]): string[] => {
  const body = rows.flatMap(unfolded);
  const widths = heading.map((_, column) =>
    widest([heading, ...body].map((row) => row[column] ?? "")),
  );
  const line = (row: Row) =>
    widths
      .map((width, column) => (row[column] ?? "").padEnd(width))
      .join("  ")
      .trimEnd();
  return [line(heading), widths.map((width) => "─".repeat(width)).join("  "), ...body.map(line)];
};
