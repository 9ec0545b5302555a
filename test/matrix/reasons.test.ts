import { expect, test } from "vitest";
import { groups } from "./groups.js";
import { operations } from "./support/acts.js";

const rows = groups.flatMap((group) => group.rows);

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
