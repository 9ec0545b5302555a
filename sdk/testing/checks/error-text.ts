/** Where code of the test or of the program threw: the first line of the stack outside of libraries. */
const placeOf = ({ stack = "" }: Error): string | undefined => {
  const lines = stack.split("\n").filter((line) => /^\s+at /.test(line));
  return lines.find((line) => !/node_modules|node:|<anonymous>$/.test(line))?.trim();
};

/** What code of the user threw, and where: in one line for people, without the rest of its stack. */
export const errorText = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const place = placeOf(error);
  return `${error.name}: ${error.message}${place === undefined ? "" : ` (${place})`}`;
};
