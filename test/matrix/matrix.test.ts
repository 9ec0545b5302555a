import { describe, test } from "vitest";
import { answers, refusals } from "./rows/answers.js";
import { connections, rateLimits, serviceFailures, slow } from "./rows/failures.js";
import { inputs, lists, neighbours } from "./rows/objects.js";
import { type Operation, operations } from "./support/acts.js";
import type { Cell } from "./support/cell.js";
import { runDisturbed } from "./support/disturbed.js";
import { Stage } from "./support/stage.js";

const groups = [
  ...[rateLimits, connections, serviceFailures, answers, slow],
  ...[refusals, lists, neighbours, inputs],
];

const run = async (operation: Operation, cell: Cell): Promise<void> => {
  if ("arrange" in cell) return runDisturbed(operation, cell);
  await using stage = await Stage.open();
  await cell.test(stage);
};

/*
 * Every fault with every operation that it can strike, over real sockets, with the real life cycle. Whatever a cell
 * says, it also proves that exactly the objects that should be there are there: none lost, none made twice, none of
 * somebody else touched.
 */
for (const { title, rows } of groups)
  describe(title, () => {
    for (const row of rows)
      describe(row.title, () => {
        for (const operation of operations) {
          const cell = row.cells[operation];
          if (cell) test(`${operation}: ${cell.words}`, () => run(operation, cell));
        }
      });
  });
