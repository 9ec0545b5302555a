import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { groups } from "./groups.js";
import { operations } from "./support/acts.js";
import { matrixPage } from "./table.js";

const file = join(__dirname, "..", "..", "docs", "fault-matrix.md");
const rows = groups.flatMap((group) => group.rows);

test("the page of the matrix is up to date", () => {
  const page = matrixPage(groups);
  if (process.env.UPDATE_DOCS) writeFileSync(file, page);
  expect(readFileSync(file, "utf8"), "run the tests once with UPDATE_DOCS=1").toBe(page);
});

test("every cell has a test or a reason, and no test id is there twice", () => {
  for (const { fault, cells } of rows) {
    for (const operation of operations) {
      const cell = cells[operation];
      if (typeof cell === "string") expect(cell, fault).toMatch(/^not applicable: .{10,}/);
      else expect(cell.words, fault).toMatch(/.{10,}/);
    }
  }
  const faults = rows.map(({ fault }) => fault);
  expect(new Set(faults).size).toBe(faults.length);
});
