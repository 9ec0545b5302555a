import { describe, expect, test } from "vitest";
import { answers, refusals } from "./rows/answers.js";
import { connections, rateLimits, serviceFailures, slow } from "./rows/failures.js";
import { clocks, inputs, lists } from "./rows/objects.js";
import { acts, type Operation, operations } from "./support/acts.js";
import type { Cell, DisturbedCell } from "./support/cell.js";
import { create, type Entry } from "./support/resource.js";
import { Stage } from "./support/stage.js";

const nothing: Entry = { id: "none", state: {} };

/** What the service holds, as one text. */
const held = async (stage: Stage): Promise<string> =>
  JSON.stringify(await stage.hub.objects("channels"));

/**
 * Disturbs an operation, looks at how it ends, and runs once more undisturbed: then the operation
 * has done what it is for, exactly once.
 */
const runDisturbed = async (operation: Operation, cell: DisturbedCell): Promise<void> => {
  await using stage = await Stage.open();
  const act = acts[operation];
  const entry = act.needs === "nothing" ? nothing : await create(stage);
  stage.nextRun();
  await cell.arrange(stage, act.on, operation);
  const before = { objects: await held(stage), waited: stage.waited };
  stage.sent.length = 0;
  const [ended] = await Promise.allSettled([act.perform(stage, entry)]);
  expect(stage.sentTo(act.on), `${act.on} sent`).toBe(cell.sends);
  if (cell.waits) {
    const waited = stage.waited - before.waited;
    expect(waited).toBeGreaterThanOrEqual(cell.waits[0]);
    expect(waited).toBeLessThanOrEqual(cell.waits[1]);
  }
  if (ended.status === "fulfilled") {
    expect(cell.fails).toBeUndefined();
    await act.proven(stage, ended.value, entry);
    return;
  }
  const { reason } = ended;
  if (!cell.fails) throw reason;
  expect(reason).toBeInstanceOf(Error);
  expect(reason.message).toMatch(cell.fails);
  expect(reason).not.toHaveProperty("id");
  expect(await held(stage)).toBe(before.objects);
  await stage.calm();
  stage.nextRun();
  await act.proven(stage, await act.perform(stage, entry), entry);
};

const groups = [
  ...[rateLimits, connections, serviceFailures, answers, slow],
  ...[refusals, lists, clocks, inputs],
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
