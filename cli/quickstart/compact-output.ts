import { stripVTControlCharacters } from "node:util";

/** Lines of Pulumi's display that say nothing to somebody who watches it for the first time. */
const noise = [
  /^\s*$/,
  /^@ /,
  /^\s*(Outputs|Resources):$/,
  /^ {2,4}([+~-] )?(?!error|warning)\w+ *: +["[]/,
  // What is under way; the same line comes again when it is done.
  /\b(creating|updating|deleting|reading|refreshing) \(\d/,
  /^The resources in the stack have been deleted, but/,
  /^If you want to remove the stack completely/,
  // The row of the program itself, unless it says more.
  /pulumi:pulumi:Stack \S+(\s+(create|delete|created|deleted|running)( \([\d.]+s\))?)?\s*$/,
];

/** A row of the plan that `pulumi up` shows first; the same row comes again when it is done. */
const planned = /:\S+ \S+ (create|update|delete|replace)( \[diff: .*\])?\s*$/;

export interface CompactOptions {
  /** Leave out the rows of the plan. */
  readonly withoutPlan: boolean;
}

/** A line of Pulumi's own output as the quick start shows it; undefined where it shows nothing. */
export const compact = (line: string, { withoutPlan }: CompactOptions): string | undefined => {
  const plain = stripVTControlCharacters(line);
  const hidden = withoutPlan ? [...noise, planned] : noise;
  if (hidden.some((pattern) => pattern.test(plain))) return undefined;
  return `  ${line.trimEnd().replace(/(pulumi-nodejs:dynamic\/conversation|conversation:index):/, "")}`;
};
