import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { operations } from "./support/acts.js";
import type { DisturbedCell, OwnCell } from "./support/cell.js";
import { endedAs, heldBy, inAll, type Observed, runDisturbed } from "./support/disturbed.js";
import { Stage } from "./support/stage.js";
import { cellId, groups, matrixPage, testedCells } from "./table.js";

const page = join(__dirname, "fault-matrix.md");

/** What the tests of this run saw, by cell. */
const seen = new Map<string, Observed>();

const runOwn = async (cell: OwnCell): Promise<Observed> => {
  await using stage = await Stage.open();
  await cell.test(stage);
  const seen = `in all ${inAll(stage.sentInAll)} → ${await heldBy(stage)}`;
  return { ended: endedAs(stage.outcomes), seen };
};

const run = (operation: (typeof operations)[number], cell: DisturbedCell | OwnCell) =>
  "arrange" in cell ? runDisturbed(operation, cell) : runOwn(cell);

describe.each(groups.map((group) => [group.title, group] as const))("%s", (_, { rows }) => {
  for (const { fault, cells } of rows) {
    for (const operation of operations) {
      const cell = cells[operation];
      if (typeof cell === "string") continue;
      test(`${cellId(fault, operation)}: ${cell.words}`, async () => {
        seen.set(cellId(fault, operation), await run(operation, cell));
      });
    }
  }
});

test("the page shows what each of these tests has just seen", ({ skip }) => {
  if (seen.size < testedCells(groups)) skip("only after a run in which every cell passed");
  const text = matrixPage(groups, seen);
  if (process.env.UPDATE_DOCS) writeFileSync(page, text);
  expect(readFileSync(page, "utf8"), "run the tests of the matrix with UPDATE_DOCS=1").toBe(text);
});
