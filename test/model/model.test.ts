import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Door } from "../support/door.js";
import { counterExamples } from "./counter-examples.js";
import { scenario } from "./histories.js";
import { movesByHand, movingHistory } from "./moves.js";
import { type ModelStage, openStage, play } from "./play.js";
import { playMoves } from "./played-moves.js";

/** Scenarios in one run: `npm run test:long` plays 20,000. */
const runs = Number(process.env.MODEL_RUNS ?? 60);

/** The same histories in every short run; new ones in every long run. */
const seedOf = (): number =>
  Number(process.env.MODEL_SEED ?? (process.env.MODEL_RUNS ? Date.now() % 2 ** 31 : 20_261_121));

let stage: ModelStage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

const propertyOf = (door: Door) =>
  fc.asyncProperty(scenario, async (each) => {
    // The stacks of the model have one name. That a resource was moved to another stack the plugin sees
    // by its name; `test/built/stack-states.test.ts` moves between stacks as they are.
    fc.pre(door === "dynamic" || !each.steps.some(({ type }) => type === "move"));
    const { wrong } = await play({ ...stage, door }, each);
    if (wrong.length > 0) throw new Error(wrong.join("\n"));
  });

/** The plugin's door leads to the same rooms: a part of the histories shows it. */
const doors = [
  { door: "dynamic", numRuns: runs },
  { door: "plugin", numRuns: Number(process.env.MODEL_PLUGIN_RUNS ?? Math.ceil(runs / 4)) },
] as const;

test.each(doors)(
  "$numRuns random histories end with exactly what is declared ($door)",
  {
    timeout: 3_600_000,
  },
  async ({ door, numRuns }) => {
    const seed = seedOf();
    console.log(`model seed ${seed}`);
    await fc.assert(propertyOf(door), { numRuns, seed });
  },
);

/** Histories of resources that change class, name, parent and stack: `npm run test:long` plays 5,000. */
const moves = Number(process.env.MOVES_RUNS ?? 30);

test(`in ${moves} random histories of moves no object is lost, held twice, or written by another`, {
  timeout: 3_600_000,
}, async () => {
  const { MOVES_SEED: given, MOVES_RUNS: long } = process.env;
  const seed = Number(given ?? (long ? Date.now() % 2 ** 31 : 20_261_128));
  console.log(`moves seed ${seed}`);
  const property = fc.asyncProperty(movingHistory(5), async (history) => {
    const { wrong } = await playMoves(stage, history);
    if (wrong.length > 0) throw new Error(wrong.join("\n"));
  });
  await fc.assert(property, { numRuns: moves, seed });
});

test.each(movesByHand)("%s", async (_, history) => {
  expect((await playMoves(stage, history)).wrong).toEqual([]);
});

/** Histories that once ended wrong, as fast-check shrank them. */
for (const { title, history } of counterExamples)
  for (const { door } of doors)
    test(`${title} (${door})`, async () => {
      expect((await play({ ...stage, door }, history)).wrong).toEqual([]);
    });
