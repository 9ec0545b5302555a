import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { counterExamples } from "./counter-examples.js";
import { scenario } from "./histories.js";
import { type ModelStage, openStage, play } from "./play.js";

/** Scenarios in one run: `npm run test:long` plays 20,000. */
const runs = Number(process.env.MODEL_RUNS ?? 100);

/** The same histories in every short run; new ones in every long run. */
const seedOf = (): number =>
  Number(process.env.MODEL_SEED ?? (process.env.MODEL_RUNS ? Date.now() % 2 ** 31 : 20_261_121));

let stage: ModelStage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.emulator.close());

const property = fc.asyncProperty(scenario, async (each) => {
  const { wrong } = await play(stage, each);
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
});

test(`${runs} random histories end with exactly what is declared`, {
  timeout: 3_600_000,
}, async () => {
  const seed = seedOf();
  console.log(`model seed ${seed}`);
  await fc.assert(property, { numRuns: runs, seed });
});

/** Histories that once ended wrong, as fast-check shrank them. */
for (const { title, history } of counterExamples)
  test(title, async () => {
    expect((await play(stage, history)).wrong).toEqual([]);
  });
