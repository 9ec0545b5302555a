import { AsyncLocalStorage } from "node:async_hooks";
import { expect, test } from "vitest";
import { TrueBucket } from "../../bench/true-bucket.js";
import { VirtualTime } from "../../bench/virtual-time.js";
import { pacedCalls, unlimitedBurst } from "../../provider/pacing/pacer.js";
import type { Wait } from "../../provider/service/pace.js";
import { tokenEndpoint } from "../../provider/service/token.js";
import type { Endpoint } from "../../provider/service/transport.js";
import {
  alone,
  answering,
  calling,
  create,
  makeCalls,
  ok,
  others,
  pacer,
  refusedWith,
  series,
} from "./support/simulation.js";

const read: Endpoint = { method: "GET", template: "/channels/{id}" };
const line = { roundTripMs: 20 };

test("half a share takes half of the spike and of the rate, and is never refused", async () => {
  const { wallMs, refused } = await alone(new TrueBucket(1, 10), 31, line, { share: 0.5 });
  expect(refused).toBe(0);
  expect(wallMs).toBeGreaterThanOrEqual(51_000);
  expect(wallMs).toBeLessThanOrEqual(53_000);
});

test.each([0.5, 0.9, 1.5])("nothing fails while others take %f of the rate", async (part) => {
  const time = new VirtualTime();
  const bucket = new TrueBucket(1, 10);
  const { stop } = others(time, bucket, 1000 / part);
  const { failed } = await makeCalls(time, pacer(time), 50, calling(time, bucket, line));
  stop();
  expect(failed).toBe(0);
});

test("only the endpoint that is out of tokens waits", async () => {
  const time = new VirtualTime();
  const pace = pacer(time, { burst: 2 });
  const call = calling(time, new TrueBucket(1, 2), line);
  for (let n = 0; n < 30; n += 1) void pace(create, call);
  const fast = await makeCalls(time, pace, 2, calling(time, new TrueBucket(1, 2), line), read);
  expect(fast.wallMs).toBeLessThanOrEqual(500);
});

test("a call that hangs holds up the others for a period only", async () => {
  const time = new VirtualTime();
  const pace = pacer(time, { limits: () => ({ standard: { rate: 5, burst: 15 } }) });
  void pace(create, () => time.sleep(60_000).then(() => ok));
  const { wallMs } = await makeCalls(time, pace, 1, async () => ok);
  expect(wallMs).toBeLessThanOrEqual(250);
});

test("a long queue alone is no reason to fail", async () => {
  const limits = {
    plan: "developer",
    limits: () => ({ standard: { rate: 0.16, burst: 1 } }),
  } as const;
  const { wallMs, failed } = await alone(new TrueBucket(0.16, 1), 700, line, limits);
  expect(wallMs).toBeGreaterThan(3_600_000);
  expect(failed).toBe(0);
});

test("a call that is refused for an hour fails", async () => {
  const time = new VirtualTime();
  const call = pacer(time)(create, answering(refusedWith()));
  await expect(time.during(call)).rejects.toMatchObject({ code: "THROTTLED", effect: "none" });
  expect(time.now()).toBeGreaterThanOrEqual(3_600_000);
});

test("a burst that no run uses up is no limit: no call waits for another", async () => {
  const bucket = new TrueBucket(1, unlimitedBurst);
  const { wallMs, refused } = await alone(bucket, 200, line, { burst: unlimitedBurst });
  expect(refused).toBe(0);
  expect(wallMs).toBeLessThanOrEqual(line.roundTripMs);
  const time = new VirtualTime();
  const pace = pacer(time, { burst: unlimitedBurst });
  for (let n = 1; n <= 3; n += 1) await makeCalls(time, pace, 1, calling(time, bucket, line));
  expect(time.now()).toBe(3 * line.roundTripMs);
});

test("after a pause the saved-up tokens are used again without a refusal", async () => {
  const time = new VirtualTime();
  const bucket = new TrueBucket(1, 10);
  const pace = pacer(time);
  await makeCalls(time, pace, 20, calling(time, bucket, line));
  const refused = bucket.refused;
  await time.during(time.sleep(60_000));
  const { wallMs } = await makeCalls(time, pace, 10, calling(time, bucket, line));
  expect(wallMs).toBeLessThanOrEqual(10 * line.roundTripMs);
  expect(bucket.refused).toBe(refused);
});

test("a call that arrives late at a full bucket makes at most one of the next ones too many", async () => {
  const time = new VirtualTime();
  const bucket = new TrueBucket(5, 4);
  const pace = pacer(time, { limits: () => ({ standard: bucket }) });
  for (let run = 1; run <= 2; run += 1) {
    await makeCalls(time, pace, 20, calling(time, bucket, line));
    await time.during(time.sleep(60_000));
  }
  const refused = bucket.refused;
  let lateMs = 500;
  const late = async () => {
    const wait = time.sleep(lateMs);
    lateMs = 0;
    await wait;
    return calling(time, bucket, line)();
  };
  await makeCalls(time, pace, 12, late);
  expect(bucket.refused).toBeLessThanOrEqual(refused + 1);
});

test("fetching a token is not held back, and after a refusal waits 1, 2, 4 seconds", async () => {
  const time = new VirtualTime();
  const pace = pacer(time, { burst: 1 });
  const together = Array.from({ length: 20 }, () => pace(tokenEndpoint, answering(ok)));
  await time.during(Promise.all(together));
  expect(time.now()).toBe(0);
  const attempt = answering(refusedWith(), refusedWith(), refusedWith(), ok);
  await time.during(pace(tokenEndpoint, attempt));
  expect(time.now()).toBe(7_000);
});

test("a call that was given up before it began sends nothing", async () => {
  const time = new VirtualTime();
  let sent = 0;
  const attempt = async () => {
    sent += 1;
    return ok;
  };
  const call = pacer(time)(create, attempt, AbortSignal.abort());
  await expect(call).rejects.toMatchObject({ code: "CANCELLED" });
  expect(sent).toBe(0);
});

test("long waits are announced, at most every 10 seconds, where the caller hears it", async () => {
  const time = new VirtualTime();
  const reported: (Wait & { readonly caller: number; readonly at: number })[] = [];
  const caller = new AsyncLocalStorage<number>();
  const onWait = (wait: Wait) =>
    reported.push({ ...wait, caller: caller.getStore() ?? -1, at: time.now() });
  const pace = pacer(time, { burst: 1, onWait });
  const call = calling(time, new TrueBucket(1, 1), line);
  const calls = Array.from({ length: 16 }, (_, index) =>
    caller.run(index, () => pace(create, call)),
  );
  await time.during(Promise.all(calls));
  expect(reported[0]).toMatchObject({ method: "POST", template: "/channels" });
  for (const { caller: who, at, waitMs } of reported) {
    expect(waitMs).toBeGreaterThan(2_000);
    // The place in the queue is the number of the caller, at one call in a second.
    expect(at + waitMs).toBeCloseTo(who * 1000, -3);
    const next = reported.find((later) => later.caller === who && later.at > at);
    expect((next?.at ?? at + 10_000) - at).toBeGreaterThanOrEqual(10_000);
  }
  expect(new Set(reported.map(({ caller: who }) => who)).size).toBeGreaterThanOrEqual(12);
});

test("a bucket that holds two makes up for timers that are late, and for a long stall now and then", async () => {
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
    limits: () => ({ standard: bucket }),
  });
  const line = { roundTripMs: 2, jitterMs: 1 };
  const { wallMs } = await makeCalls(time, pace, 602, calling(time, bucket, line));
  expect(wallMs).toBeLessThanOrEqual(20_000 * 1.05);
});

/** A pacer that knows no plan, and what it takes it for. */
const guessing = (time: VirtualTime) => {
  const guesses: string[] = [];
  const onPlanGuess = (guess: string) => void guesses.push(guess);
  return { guesses, pace: pacedCalls({ clock: time, tenant: "t", share: 1, onPlanGuess }) };
};

test.each([
  [["basic"], 0.5, 2],
  [["basic", "developer"], 0.16, 1],
] as const)("a tenant on %j that did not say so is found out", async (plans, rate, burst) => {
  const time = new VirtualTime();
  const bucket = new TrueBucket(rate, burst);
  const { pace, guesses } = guessing(time);
  const { failed, wallMs } = await makeCalls(time, pace, 60, calling(time, bucket, line));
  expect(failed).toBe(0);
  expect(guesses).toEqual(plans);
  expect(bucket.refused).toBeLessThanOrEqual(10);
  expect(wallMs).toBeLessThanOrEqual(((60 - burst) / rate) * 1000 * 1.1);
});

test("a tenant on the highest plan is not taken for a lower one", async () => {
  const time = new VirtualTime();
  const { pace, guesses } = guessing(time);
  const bucket = new TrueBucket(1, 1);
  const { wallMs } = await makeCalls(time, pace, 60, calling(time, bucket, line));
  expect(guesses).toEqual([]);
  expect(wallMs).toBeLessThanOrEqual(61_000);
});

test.each([0.3, 0.75])(
  "a configured plan is hardly slowed down by others who take %f of it for a while",
  async (part) => {
    const time = new VirtualTime();
    const bucket = new TrueBucket(1, 20);
    let over = false;
    const taking = async () => {
      while (!over) {
        await time.sleep(1000 / part);
        while (!over && !bucket.take(time.now())) await time.sleep(50 / part);
      }
    };
    void taking();
    void time.sleep(60_000).then(() => {
      over = true;
    });
    const { wallMs } = await makeCalls(time, pacer(time), 150, calling(time, bucket, line));
    expect(wallMs).toBeLessThanOrEqual((130 + 60 * part) * 1000 * 1.1);
  },
);
