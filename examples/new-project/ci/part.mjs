// Writes a part of the report from standard input. A comment holds at most 65,536 characters, so each part has a limit.
// The script cuts only between lines: half a row or half a code span would turn foreign text into markup.
//
//   node ci/part.mjs block TITLE    the end of the input, as a folded code block
//   node ci/part.mjs markdown       the beginning of Markdown input
import { readFileSync } from "node:fs";

const mostBytes = 14_000;

/** As many of the first lines as fit. */
const firstOf = (lines) => {
  let left = mostBytes;
  const end = lines.findIndex((line) => {
    left -= Buffer.byteLength(line) + 1;
    return left < 0;
  });
  return end < 0 ? lines : lines.slice(0, end);
};

const block = (title, text) => {
  const lines = text.replace(/\n+$/, "").split("\n");
  const kept = firstOf(lines.toReversed()).toReversed();
  if (kept.length < lines.length) kept.unshift(`… ${lines.length - kept.length} earlier lines`);
  // Longer than every fence in the text, so that none of them ends the block.
  const runs = text.match(/`+/g) ?? [];
  const fence = "`".repeat(Math.max(2, ...runs.map(({ length }) => length)) + 1);
  const rows = [fence, ...kept, fence];
  return ["<details>", `<summary>${title}</summary>`, "", ...rows, "", "</details>", "", ""];
};

const markdown = (text) => {
  const lines = text.replace(/\n+$/, "").split("\n");
  const kept = firstOf(lines);
  if (kept.length === lines.length) return [...lines, "", ""];
  const count = (pattern) => kept.filter((line) => pattern.test(line)).length;
  const open = count(/^<details>/) - count(/^<\/details>/);
  const ends = Array.from({ length: open }, () => ["", "</details>"]).flat();
  return [...kept, ...ends, "", `… ${lines.length - kept.length} more lines`, "", ""];
};

const [, , form, title = ""] = process.argv;
// Control and format characters could hide or reverse a line.
const text = readFileSync(0, "utf8")
  .replace(/\r\n/g, "\n")
  .replace(/(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "�");
process.stdout.write((form === "block" ? block(title, text) : markdown(text)).join("\n"));
