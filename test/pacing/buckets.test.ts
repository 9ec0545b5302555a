import { expect, test } from "vitest";
import { type Level, lessonOf, lessonText, takeFrom } from "../../provider/pacing/buckets.js";
import { memoryBuckets } from "../../provider/pacing/memory-buckets.js";

const rules = { periodMs: 1000, capacity: 3, marginMs: 0 };

test("a bucket that is not known yet is empty and fills from now on", () => {
  let now = 5_000;
  const state = memoryBuckets(() => now);
  expect(state.take("k", rules)).toEqual({ waitMs: 1000, tokens: 0 });
  now += 400;
  expect(state.take("k", rules)).toMatchObject({ waitMs: 600 });
  now += 600;
  expect(state.take("k", rules)).toMatchObject({ waitMs: 0 });
  expect(state.take("k", rules)).toMatchObject({ waitMs: 1000 });
});

test("no more is saved up than the capacity, and the time of the pause is told", () => {
  let now = 0;
  const state = memoryBuckets(() => now);
  state.take("k", rules);
  now = 60_000;
  const taken = [1, 2, 3, 4].map(() => state.take("k", rules));
  expect(taken).toMatchObject([{ waitMs: 0, tokens: 60 }, { waitMs: 0 }, { waitMs: 0 }, {}]);
  expect(taken[3]).toMatchObject({ waitMs: 1000 });
});

test("a refused call gets its token back and holds the others for as long as asked", () => {
  let now = 0;
  const state = memoryBuckets(() => now);
  state.take("k", rules);
  now = 1000;
  state.take("k", rules);
  state.hold("k", { periodMs: 1000, refund: true, waitMs: 20 });
  expect(state.take("k", rules)).toMatchObject({ waitMs: 20 });
});

test.each([30_000, 86_400_000])(
  "a clock that was set back by %i ms costs 16 periods at most",
  (ms) => {
    const { taken, level } = takeFrom({ emptyAt: ms }, 0, rules);
    expect(taken.waitMs).toBeLessThanOrEqual(17_000);
    expect(level.emptyAt).toBeLessThanOrEqual(16_000);
  },
);

test("a clock that was set forward gives no more than the capacity", () => {
  let level: Level = { emptyAt: 0 };
  let taken = 0;
  for (let call = 0; call < 10; call += 1) {
    const result = takeFrom(level, 30_000, rules);
    level = result.level;
    if (result.taken.waitMs === 0) taken += 1;
  }
  expect(taken).toBe(3);
});

test("buckets with different keys do not touch each other", () => {
  let now = 0;
  const state = memoryBuckets(() => now);
  state.take("a", rules);
  state.take("b", rules);
  now = 1000;
  state.take("a", rules);
  expect(state.take("b", rules)).toMatchObject({ waitMs: 0 });
});

test("a lesson survives as text, and anything else is no lesson", () => {
  const lesson = { spike: 12, single: false, searched: true, settled: false };
  expect(lessonOf(lessonText(lesson))).toEqual(lesson);
  expect(["", "12", "1 2 3 4", "x 0 0 0", 7, null].map(lessonOf)).toEqual(Array(6).fill(undefined));
});

test("only one process at a time makes trials, until it makes no more", () => {
  let now = 0;
  const state = memoryBuckets(() => now);
  const trial = (trialBy: string) => state.take("k", { ...rules, trialBy });
  expect(trial("a")).toMatchObject({ trial: true });
  expect(trial("b")).not.toHaveProperty("trial");
  now = 300;
  expect(trial("a")).toMatchObject({ trial: true });
  state.hold("k", { periodMs: 1000, refund: false, waitMs: 5000 });
  now = 3400;
  expect(trial("b")).toMatchObject({ trial: true });
});

test("no trial is made shortly before a token is due", () => {
  let now = 0;
  const state = memoryBuckets(() => now);
  state.take("k", rules);
  now = 600;
  expect(state.take("k", { ...rules, trialBy: "a" })).toMatchObject({ waitMs: 400 });
  expect(state.take("k", { ...rules, trialBy: "a" })).not.toHaveProperty("trial");
});
