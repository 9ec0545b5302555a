import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { TrueBucket } from "../../bench/true-bucket.js";
import { VirtualTime } from "../../bench/virtual-time.js";
import {
  type BucketStore,
  fileBuckets,
  memoryBuckets,
} from "../../provider/pacing/bucket-store.js";
import { redisBuckets } from "../../provider/pacing/redis-buckets.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { FakeRedis } from "./support/fake-redis.js";
import { calling, create, makeCalls, pacer } from "./support/simulation.js";

const line = { roundTripMs: 40, jitterMs: 4 };

let folder = "";

beforeEach(() => {
  folder = temporaryFolder();
});

/** What a process opens; all that are opened on the same time share the buckets. */
const stores = {
  memory: (time: VirtualTime) => {
    const store = memoryBuckets(time);
    return () => store;
  },
  file: (time: VirtualTime) => () => fileBuckets(join(folder, "buckets.sqlite"), () => time.now()),
  Redis: (time: VirtualTime) => {
    const redis = new FakeRedis(() => time.wall());
    return () => redisBuckets("redis://localhost", redis.connect);
  },
};

/** Processes one after the other, with the bucket refilled in between; gives seconds and refusals. */
const oneByOne = async (
  time: VirtualTime,
  open: () => BucketStore,
  bucket: TrueBucket,
  calls: number,
) => {
  const runs: { seconds: number; refused: number }[] = [];
  for (let run = 1; run <= 6; run += 1) {
    const refused = bucket.refused;
    const store = open();
    const call = calling(time, bucket, line);
    const { wallMs } = await makeCalls(
      time,
      pacer(time, { store, limits: () => ({ standard: bucket }) }),
      calls,
      call,
    );
    runs.push({ seconds: wallMs / 1000, refused: bucket.refused - refused });
    await store.close();
    await time.during(time.sleep(120_000));
  }
  return runs;
};

describe.each(Object.entries(stores))("through %s", (_, opener) => {
  test.each([
    [12, 10, 2.2],
    [30, 20, 10.5],
  ])(
    "%i calls on a bucket of %i take %f seconds in every process, and none is refused",
    async (calls, burst, mostSeconds) => {
      const time = new VirtualTime();
      const runs = await oneByOne(time, opener(time), new TrueBucket(1, burst), calls);
      for (const { seconds, refused } of runs) {
        expect(seconds).toBeLessThanOrEqual(mostSeconds);
        expect(refused).toBe(0);
      }
    },
  );

  test("four processes together are as fast as one, also where one is killed", async () => {
    const time = new VirtualTime();
    const open = opener(time);
    const bucket = new TrueBucket(5, 4);
    const call = calling(time, bucket, line);
    const pace = () => pacer(time, { limits: () => ({ standard: bucket }), store: open() });
    // Killed with two calls under way: no answer comes, and it asks for nothing any more.
    const killed = pace();
    const kill = new AbortController();
    let sent = 0;
    const killing = async () => {
      sent += 1;
      if (sent <= 6) return call();
      if (sent > 7) kill.abort();
      return new Promise<never>(() => {});
    };
    for (let n = 0; n < 20; n += 1) killed(create, killing, kill.signal).catch(() => {});
    const others = [pace(), pace(), pace()].flatMap((one) =>
      Array.from({ length: 20 }, () => one(create, call)),
    );
    await time.during(Promise.all(others));
    expect(bucket.accepted).toBeGreaterThanOrEqual(60);
    expect(time.now()).toBeLessThanOrEqual(((bucket.accepted - 4 + 2) / 5) * 1000 * 1.02);
    expect(bucket.refused).toBeLessThanOrEqual(6);
  });
});

test("a Redis that is emptied in mid-run costs little", async () => {
  const time = new VirtualTime();
  const redis = new FakeRedis(() => time.wall());
  const store = redisBuckets("redis://localhost", redis.connect);
  const bucket = new TrueBucket(1, 10);
  void time.sleep(15_000).then(() => redis.kept.clear());
  const pace = pacer(time, { store, limits: () => ({ standard: bucket }) });
  const { wallMs } = await makeCalls(time, pace, 50, calling(time, bucket, line));
  expect(wallMs).toBeLessThanOrEqual(40_000 + 1_500);
  expect(bucket.refused).toBeLessThanOrEqual(5);
});

test.each([-3_600_000, -20_000, 3_600_000])(
  "Redis' clock jumps by %i ms in mid-run: no run hangs",
  async (jumpMs) => {
    const time = new VirtualTime();
    let setBy = 0;
    const redis = new FakeRedis(() => time.wall() + setBy);
    const store = redisBuckets("redis://localhost", redis.connect);
    const bucket = new TrueBucket(1, 10);
    void time.sleep(15_000).then(() => {
      setBy = jumpMs;
    });
    const pace = pacer(time, { store, limits: () => ({ standard: bucket }) });
    const { wallMs } = await makeCalls(time, pace, 50, calling(time, bucket, line));
    expect(wallMs).toBeLessThanOrEqual(40_000 + 5_000);
    expect(bucket.refused).toBeLessThanOrEqual(6);
  },
);

test("a machine that sleeps for 20 seconds goes on where it was", async () => {
  const time = new VirtualTime();
  let suspended = false;
  const clock = {
    now: () => time.now(),
    wall: () => time.wall(),
    sleep: async (ms: number, signal?: AbortSignal) => {
      await time.sleep(ms, signal);
      if (suspended || time.now() < 10_000) return;
      suspended = true;
      await time.sleep(20_000);
    },
  };
  const bucket = new TrueBucket(1, 10);
  const pace = pacer(time, { clock, limits: () => ({ standard: bucket }) });
  const { wallMs } = await makeCalls(time, pace, 50, calling(time, bucket, line));
  // While it slept ten tokens were saved up, the rest was lost.
  expect(wallMs).toBeLessThanOrEqual((40 + 20 - 10) * 1000 * 1.01 + 1_000);
  expect(bucket.refused).toBeLessThanOrEqual(4);
});
