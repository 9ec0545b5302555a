import { expect, test } from "vitest";
import { VirtualTime } from "../../bench/session.js";
import { TrueBucket } from "../../bench/true-bucket.js";
import { memoryBuckets } from "../../provider/pacing/bucket-store.js";
import { pacedCalls } from "../../provider/pacing/pacer.js";
import { calling, makeCalls, pacer } from "./support/simulation.js";

const line = { roundTripMs: 20 };

test.each([
  ["basic", 0.5],
  ["developer", 0.16],
] as const)("a tenant on %s that did not say so is found out, once", async (plan, rate) => {
  const time = new VirtualTime();
  const guesses: string[] = [];
  const bucket = new TrueBucket(rate, 10);
  const pace = pacedCalls({
    clock: time,
    tenant: "t",
    share: 1,
    onPlanGuess: (guess) => guesses.push(guess),
  });
  const { failed, wallMs } = await makeCalls(time, pace, 60, calling(time, bucket, line));
  expect(failed).toBe(0);
  expect(guesses).toEqual([plan]);
  expect(bucket.refused).toBeLessThanOrEqual(10);
  expect(wallMs).toBeLessThanOrEqual((50 / rate) * 1000 * 1.1);
});

test("a tenant on the highest plan is not taken for a lower one", async () => {
  const time = new VirtualTime();
  const guesses: string[] = [];
  const onPlanGuess = (guess: string) => guesses.push(guess);
  const pace = pacedCalls({ clock: time, tenant: "t", share: 1, onPlanGuess });
  const bucket = new TrueBucket(1, 1);
  const { wallMs } = await makeCalls(time, pace, 60, calling(time, bucket, line));
  expect(guesses).toEqual([]);
  expect(wallMs).toBeLessThanOrEqual(61_000);
});

test("a higher rate than the one that was guessed is found when others stop", async () => {
  const time = new VirtualTime();
  const bucket = new TrueBucket(1, 10);
  let over = false;
  const others = async () => {
    while (!over) {
      bucket.take(time.now());
      await time.sleep(50);
    }
  };
  void others();
  void time.sleep(60_000).then(() => {
    over = true;
  });
  const guesses: string[] = [];
  const onPlanGuess = (guess: string) => guesses.push(guess);
  const pace = pacedCalls({ clock: time, tenant: "t", share: 1, onPlanGuess });
  const { wallMs, failed } = await makeCalls(time, pace, 150, calling(time, bucket, line));
  expect(failed).toBe(0);
  // At the lowest rate, which others make it look like, it would be more than 800 s.
  expect(wallMs).toBeLessThanOrEqual((60 + 150) * 1000 * 1.3);
});

test("the next process knows the plan that was found out", async () => {
  const time = new VirtualTime();
  const store = memoryBuckets(() => time.now());
  const bucket = new TrueBucket(0.16, 1);
  const refusals: number[] = [];
  for (let process = 1; process <= 3; process += 1) {
    const before = bucket.refused;
    const pace = pacedCalls({ clock: time, tenant: "t", share: 1, store });
    await makeCalls(time, pace, 6, calling(time, bucket, line));
    refusals.push(bucket.refused - before);
    await time.during(time.sleep(60_000));
  }
  expect(refusals[0]).toBeLessThanOrEqual(8);
  expect(refusals[1]).toBeLessThanOrEqual(1);
  expect(refusals[2]).toBeLessThanOrEqual(1);
});

test.each([
  ["enterprise", "developer", 0.16],
  ["enterprise", "basic", 0.5],
  ["basic", "developer", 0.16],
] as const)(
  "the configured plan %s is doubted where it is %s, and the user is told once",
  async (plan, real, rate) => {
    const time = new VirtualTime();
    const notices: string[] = [];
    const bucket = new TrueBucket(rate, 1);
    const pace = pacedCalls({
      clock: time,
      tenant: "t",
      share: 1,
      plan,
      onNotice: (text) => notices.push(text),
    });
    const { wallMs, failed } = await makeCalls(time, pace, 51, calling(time, bucket, line));
    expect(failed).toBe(0);
    expect(notices).toEqual([
      expect.stringContaining(`the plan ${real}, not ${plan} as configured`),
    ]);
    expect(bucket.refused).toBeLessThanOrEqual(32);
    expect(wallMs).toBeLessThanOrEqual((50 / rate) * 1000 * 1.15);
  },
);

test.each([0.3, 0.75])(
  "a configured plan is hardly slowed down by others who take %f of it for a while",
  async (part) => {
    const time = new VirtualTime();
    const bucket = new TrueBucket(1, 20);
    let over = false;
    const others = async () => {
      while (!over) {
        await time.sleep(1000 / part);
        while (!over && !bucket.take(time.now())) await time.sleep(50 / part);
      }
    };
    void others();
    void time.sleep(60_000).then(() => {
      over = true;
    });
    const { wallMs } = await makeCalls(time, pacer(time), 150, calling(time, bucket, line));
    expect(wallMs).toBeLessThanOrEqual((130 + 60 * part) * 1000 * 1.1);
  },
);
