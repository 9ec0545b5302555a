import { expect, test } from "vitest";
import { table } from "../../cli/terminal/table.js";

test("columns are as wide as their widest cell", () => {
  expect(
    table(
      ["kind", "id"],
      [
        ["Channel", "1"],
        ["Account", "12345"],
      ],
    ),
  ).toEqual(["kind     id", "───────  ─────", "Channel  1", "Account  12345"]);
});

test("a missing cell is empty", () => {
  expect(table(["a", "b"], [["x"]]).at(-1)).toBe("x");
});

test("lines of a cell stand below each other", () => {
  expect(table(["a", "b"], [["x", "1\n22"]])).toEqual(["a  b", "─  ──", "x  1", "   22"]);
});
