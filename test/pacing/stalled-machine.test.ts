import { expect, test } from "vitest";
import { VirtualTime } from "../../bench/session.js";
import { TrueBucket } from "../../bench/true-bucket.js";
import type { Bucket } from "../../provider/pacing/bucket.js";
import { type BucketStore, memoryBuckets } from "../../provider/pacing/bucket-store.js";
import { calling, makeCalls, pacer, series } from "./support/simulation.js";

const lateMs = 20;

/** Timers that fire late by up to 20 ms. */
const lateClock = (time: VirtualTime) => {
  const random = series();
  return {
    now: () => time.now(),
    wall: () => time.wall(),
    sleep: (ms: number, signal?: AbortSignal) => time.sleep(ms + random() * lateMs, signal),
  };
};

/** A bucket of which another process has found out, wrongly or not, that it saves up nothing. */
const spaced: Bucket = {
  at: 0,
  periodMs: 1000.5 / 30,
  tokens: 0,
  spent: 1,
  idle: 0,
  burst: 1,
  unprovedMs: 0,
  phase: { name: "spaced", leftMs: 3_600_000, factor: 1 },
};

const foundSpaced = (time: VirtualTime): BucketStore => {
  const store = memoryBuckets(() => time.now());
  return {
    ...store,
    change: (key, change) =>
      store.change(key, (kept, now, share) =>
        change(kept ?? (key.includes("plan") ? undefined : spaced), now, share),
      ),
  };
};

const overIdeal = async (burst: number) => {
  const time = new VirtualTime();
  const rate = 30;
  const bucket = new TrueBucket(rate, burst, 0);
  const pace = pacer(time, {
    clock: lateClock(time),
    store: foundSpaced(time),
    rates: () => rate,
  });
  const { wallMs } = await makeCalls(time, pace, 600, calling(time, bucket, { roundTripMs: 2 }));
  return { over: wallMs / ((600 / rate) * 1000) - 1, refused: bucket.refused };
};

test("on timers that are late, a bucket wrongly taken for one without savings is tested again", async () => {
  const { over, refused } = await overIdeal(20);
  expect(refused).toBe(0);
  expect(over).toBeLessThan(0.1);
});

test("where it saves up nothing indeed, the test costs one refusal", async () => {
  expect((await overIdeal(1)).refused).toBe(1);
});

test("a bucket that held two at once is not taken for one without savings after a long stall", async () => {
  const time = new VirtualTime();
  const random = series();
  const stallMs = () => (random() < 0.01 ? 60 : 0);
  const bucket = new TrueBucket(30, 2);
  const pace = pacer(time, {
    clock: {
      now: () => time.now(),
      wall: () => time.wall(),
      sleep: (ms, signal) => time.sleep(ms + 2 * random() + stallMs(), signal),
    },
    rates: () => bucket.rate,
  });
  const line = { roundTripMs: 2, jitterMs: 1 };
  const { wallMs } = await makeCalls(time, pace, 602, calling(time, bucket, line));
  expect(wallMs).toBeLessThanOrEqual(20_000 * 1.03);
});
