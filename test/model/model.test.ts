import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isConversationError } from "../../provider/service/errors.js";
import { counterExamples } from "./counter-examples.js";
import { openStage, play, type Stage, type Weakness } from "./play.js";
import { scenario } from "./scenario.js";

/** Scenarios in one run: `npm run test:long` plays 20,000. */
const runs = Number(process.env.MODEL_RUNS ?? 300);

/** The same histories in every short run; new ones in every long run. */
const seedOf = (): number =>
  Number(process.env.MODEL_SEED ?? (process.env.MODEL_RUNS ? Date.now() % 2 ** 31 : 20_261_121));

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.emulator.close());

const property = (weakness?: Weakness) =>
  fc.asyncProperty(scenario, async (each) => {
    const { wrong } = await play(stage, each, weakness);
    if (wrong.length > 0) throw new Error(wrong.join("\n"));
  });

test(`${runs} random histories end with exactly what is declared`, {
  timeout: 3_600_000,
}, async () => {
  const seed = seedOf();
  console.log(`model seed ${seed}`);
  await fc.assert(property(), { numRuns: runs, seed });
});

const weaknesses: Readonly<Record<string, Weakness>> = {
  "without marks": { settings: { ownershipMark: "none" } },
  "with no memory of what the program wants": {
    run: (run) => ({ ...run, decisions: { ...run.decisions, keeps: () => false } }),
  },
  "repeating a POST blindly": {
    service: (service) => ({
      ...service,
      create: async (definition, body) =>
        service.create(definition, body).catch(() => service.create(definition, body)),
    }),
  },
  "not looking before a POST": {
    service: (service) => ({
      ...service,
      list: async () => ({ objects: new Map(), complete: true }),
    }),
  },
  "taking a name for ownership": { inputs: { adopt: true } },
  "not looking who stands in the way of a deletion": {
    service: (service) => ({
      ...service,
      remove: async (definition, id) =>
        service.remove(definition, id).catch((error) => {
          throw isConversationError(error, "REJECTED") ? new Error("refused") : error;
        }),
    }),
  },
};

test.each(Object.entries(weaknesses))(
  "%s a counter-example is found within 2,000",
  { timeout: 600_000 },
  async (_, weakness) => {
    const result = await fc.check(property(weakness), {
      numRuns: 2000,
      seed: 1,
      endOnFailure: true,
    });
    expect(result.failed).toBe(true);
  },
);

/** Histories that once ended wrong, as fast-check shrank them. */
test.each(counterExamples)("$title", async ({ history }) => {
  expect((await play(stage, history)).wrong).toEqual([]);
});
