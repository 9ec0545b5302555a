import { expect, test } from "vitest";
import { textTable } from "../../cli/terminal/text-table.js";

test("columns are as wide as their widest cell", () => {
  expect(
    textTable(
      ["kind", "id"],
      [
        ["Channel", "1"],
        ["Account", "12345"],
      ],
    ),
  ).toEqual(["kind     id", "───────  ─────", "Channel  1", "Account  12345"]);
});

test("a missing cell is empty", () => {
  expect(textTable(["a", "b"], [["x"]]).at(-1)).toBe("x");
});

test("lines of a cell stand below each other", () => {
  expect(textTable(["a", "b"], [["x", "1\n22"]])).toEqual(["a  b", "─  ──", "x  1", "   22"]);
});
