import { wrappedWords } from "./columns.js";

/** Where the lines of a text go on: below what stands behind its first words, or below its beginning. */
const hangingIndent = (line: string, columns: number): number => {
  const beside = /^\s*\S+(?: \S+)* {2,}(?=\S)/.exec(line)?.[0].length ?? 0;
  if (beside > 0 && beside < columns / 2) return beside;
  return indentOf(line);
};

const indentOf = (line: string): number => line.length - line.trimStart().length;

/** A line that is too wide in two: what fits, and the rest. */
const split = (line: string, columns: number): readonly [fits: string, rest: string] => {
  const from = hangingIndent(line, columns);
  const [first = "", ...rest] = wrappedWords(line.slice(from), columns - from);
  return [line.slice(0, from) + first, rest.join(" ")];
};

/**
 * A help text whose lines keep to so many columns. What is too wide goes on in the next line, at the
 * same depth: in the line that is there, where it is part of the same paragraph.
 */
export const foldedHelp = (text: string, columns = 80): string => {
  const left = text.split("\n");
  const lines: string[] = [];
  for (let line = left.shift(); line !== undefined; line = left.shift()) {
    const [fits, rest] = line.length > columns ? split(line, columns) : [line, ""];
    lines.push(fits);
    if (rest === "") continue;
    const depth = hangingIndent(line, columns);
    const [next = ""] = left;
    const goesOn =
      next.trim() !== "" && indentOf(next) === depth && hangingIndent(next, columns) === depth;
    const indent = " ".repeat(depth);
    if (goesOn) left[0] = `${indent}${rest} ${next.trimStart()}`;
    else left.unshift(indent + rest);
  }
  return lines.join("\n");
};
