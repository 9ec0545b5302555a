import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { counterExamples } from "../model/counter-examples.js";
import { asPlayable, replayable } from "../model/histories.js";
import { movesByHand, movingHistory } from "../model/moves.js";
import { play } from "../model/play.js";
import { playMoves } from "../model/played-moves.js";
import type { Scenario } from "../model/scenario.js";
import type { Took } from "../model/stacks.js";
import { openReplayStage, type ReplayStage } from "../support/replay.js";

/** Random histories of the model test that the real engine plays: more on demand. */
const runs = Number(process.env.REPLAY_RUNS ?? 1);

/** Its first scenario holds a kill and forced replacements, in few steps. */
const shortSeed = 1141;

/** The given seed; without one the same in every short run, another one in every long run. */
const seedOf = (): number => {
  const { REPLAY_SEED: given, REPLAY_RUNS: long } = process.env;
  return Number(given ?? (long ? Date.now() % 2 ** 31 : shortSeed));
};

let replayed: ReplayStage;

beforeAll(async () => {
  replayed = await openReplayStage();
});
afterAll(() => replayed?.close());

/** Whether it failed, and the calls; the engine goes through what is independent in any order. */
const essence = (took: Took | undefined): string =>
  JSON.stringify([took?.error === "", [...(took?.calls ?? [])].sort()]);

/** For each step whether the model and the real engine made the same calls, and both failed or neither. */
const agreement = (model: readonly Took[], engine: readonly Took[]): readonly boolean[] =>
  (model.length > engine.length ? model : engine).map((_, place) => {
    const took = { model: model[place], engine: engine[place] };
    const isSame = essence(took.model) === essence(took.engine);
    if (!isSame) console.log(`step ${place} went otherwise: ${JSON.stringify(took)}`);
    return isSame;
  });

const replay = async (each: Scenario, title: string): Promise<readonly boolean[]> => {
  const model = await play(replayed.stage, each);
  const engine = await replayed.replay(each);
  expect({ model: model.wrong, engine: engine.wrong }, title).toEqual({ model: [], engine: [] });
  return agreement(model.took, engine.took);
};

/** A long run begins with those that once ended wrong. */
const historiesOf = (seed: number): readonly Scenario[] => [
  ...(process.env.REPLAY_RUNS ? counterExamples.map(({ history }) => asPlayable(history)) : []),
  ...fc.sample(replayable, { numRuns: runs, seed }),
];

test(`${runs} histories of the model test end well under the real engine, too, by the same calls`, {
  timeout: (runs + counterExamples.length) * 600_000,
}, async () => {
  const seed = seedOf();
  console.log(`replay seed ${seed}: again with REPLAY_SEED=${seed} REPLAY_RUNS=${runs}`);
  const steps: boolean[] = [];
  for (const [number, each] of historiesOf(seed).entries())
    steps.push(
      ...(await replay(each, `seed ${seed}, scenario ${number}: ${JSON.stringify(each)}`)),
    );
  const same = steps.filter(Boolean).length;
  const { tally } = replayed;
  console.log(`what happened: ${JSON.stringify({ steps: steps.length, same, ...tally })}`);
  if (seed === shortSeed) expect(Math.min(tally.kills, tally.forced)).toBeGreaterThan(0);
  // Where a run is cut off among steps whose order is any, the rest may differ.
  expect(same / steps.length).toBeGreaterThan(0.9);
});

/** Histories of moves, random ones after those by hand. */
const moves = Number(process.env.REPLAY_MOVES ?? 1);

test(`in ${moves} histories of moves no object is lost, held twice, or written by another under the real engine`, {
  timeout: (moves + 1) * 600_000,
}, async () => {
  const { REPLAY_SEED: given, REPLAY_MOVES: long } = process.env;
  const seed = Number(given ?? (long ? Date.now() % 2 ** 31 : 1));
  console.log(`replay seed of moves ${seed}`);
  const steps: boolean[] = [];
  const wrong: string[] = [];
  const random = fc.sample(movingHistory(3), { numRuns: moves, seed });
  const histories = [...movesByHand.map(([, history]) => history), ...random].slice(0, moves);
  for (const [number, history] of histories.entries()) {
    const model = await playMoves(replayed.stage, history, false);
    const engine = await replayed.replayMoves(history);
    steps.push(...agreement(model.took, engine.took));
    const same = steps.filter(Boolean).length;
    console.log(`history ${number}: ${same} of ${steps.length} steps as in the model so far`);
    if (model.wrong.length + engine.wrong.length === 0) continue;
    const ended = { model: model.wrong, engine: engine.wrong };
    wrong.push(`history ${number}: ${JSON.stringify({ ...ended, history })}`);
    console.log(wrong.at(-1));
  }
  expect(wrong).toEqual([]);
  expect(steps.filter(Boolean).length / steps.length).toBeGreaterThan(0.9);
});
