import { stripVTControlCharacters } from "node:util";

/** Lines of Pulumi's display that say nothing to somebody who watches it for the first time. */
const noise = [
  /^\s*$/,
  /^@ /,
  /^(Updating|Destroying) \(/,
  /^\s*(Outputs|Resources):$/,
  /^ {4}\w+ *: +["[]/,
  // What is under way; the same line comes again when it is done.
  /\b(creating|updating|deleting|reading|refreshing) \(\d/,
  /^The resources in the stack have been deleted, but/,
  /^If you want to remove the stack completely/,
  /^\s*pulumi:pulumi:Stack \S+\s*$/,
];

/** A line of Pulumi's own output as the quick start shows it; undefined where it shows nothing. */
export const compact = (line: string): string | undefined => {
  const plain = stripVTControlCharacters(line);
  if (noise.some((pattern) => pattern.test(plain))) return undefined;
  return `  ${line.trimEnd().replace("pulumi-nodejs:dynamic/conversation:", "")}`;
};
