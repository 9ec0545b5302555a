const widest = (cells: readonly string[]): number =>
  Math.max(...cells.map((cell) => cell.length), 0);

/** Rows under a heading, in columns as wide as their widest cell; lists of equal values stand below each other. */
export const table = (
  heading: readonly string[],
  rows: readonly (readonly string[])[],
): string[] => {
  const widths = heading.map((_, column) =>
    widest([heading, ...rows].map((row) => row[column] ?? "")),
  );
  const line = (row: readonly string[]) =>
    widths
      .map((width, column) => (row[column] ?? "").padEnd(width))
      .join("  ")
      .trimEnd();
  return [line(heading), widths.map((width) => "─".repeat(width)).join("  "), ...rows.map(line)];
};
