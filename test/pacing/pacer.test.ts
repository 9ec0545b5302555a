import { expect, test } from "vitest";
import { VirtualTime } from "../../bench/session.js";
import { TrueBucket } from "../../bench/true-bucket.js";
import type { Endpoint } from "../../provider/service/http/operations.js";
import type { HttpResponse } from "../../provider/service/http/transport.js";
import { tokenEndpoint } from "../../provider/service/token.js";
import { calling, create, makeCalls, ok, pacer, refusedWith } from "./support/simulation.js";

const read: Endpoint = { method: "GET", template: "/channels/{id}" };
const line = { roundTripMs: 20 };

/** Answers from a list, the last one for ever. */
const answering = (...answers: HttpResponse[]) => {
  let next = 0;
  return async () => answers[Math.min(next++, answers.length - 1)] ?? ok;
};

test("half a share takes twice the time and is never refused", async () => {
  const time = new VirtualTime();
  const bucket = new TrueBucket(1, 10);
  const pace = pacer(time, { share: 0.5 });
  const { wallMs } = await makeCalls(time, pace, 31, calling(time, bucket, line));
  expect(bucket.refused).toBe(0);
  expect(wallMs).toBeGreaterThanOrEqual(59_000);
  expect(wallMs).toBeLessThanOrEqual(61_000);
});

test("a call without a share of its plan's spike leaves the rest to others", async () => {
  const time = new VirtualTime();
  const bucket = new TrueBucket(1, 10);
  const pace = pacer(time, { share: 0.5, burst: 10 });
  const { wallMs } = await makeCalls(time, pace, 15, calling(time, bucket, line));
  expect(wallMs).toBeGreaterThanOrEqual(19_000);
  expect(wallMs).toBeLessThanOrEqual(21_000);
});

test.each([0.5, 0.9, 1.5])("nothing fails while others take %f of the rate", async (part) => {
  const time = new VirtualTime();
  const bucket = new TrueBucket(1, 10);
  let over = false;
  const others = async () => {
    while (!over) {
      bucket.take(time.now());
      await time.sleep(1000 / part);
    }
  };
  void others();
  const { failed } = await makeCalls(time, pacer(time), 50, calling(time, bucket, line));
  over = true;
  expect(failed).toBe(0);
});

test("only the endpoint that is out of tokens waits", async () => {
  const time = new VirtualTime();
  const pace = pacer(time);
  const slow = makeCalls(time, pace, 30, calling(time, new TrueBucket(1, 2), line));
  const fast = await makeCalls(time, pace, 2, calling(time, new TrueBucket(1, 2), line), read);
  // The two runs take turns in moving the time.
  expect(fast.wallMs).toBeLessThanOrEqual(3 * line.roundTripMs);
  await slow;
});

test("a refused call goes again before calls that were never sent", async () => {
  const time = new VirtualTime();
  const pace = pacer(time, { burst: 1 });
  const order: string[] = [];
  const named = (name: string, ...answers: HttpResponse[]) => {
    const attempt = answering(...answers);
    return pace(create, async () => {
      order.push(name);
      await time.sleep(5);
      return attempt();
    });
  };
  const calls = ["b", "c", "d"].map((name) => () => named(name, ok));
  const first = named("a", ok);
  const second = named("x", refusedWith(), ok);
  await time.during(Promise.all([first, second, ...calls.map((call) => call())]));
  expect(order.slice(0, 2)).toEqual(["a", "x"]);
  expect(order.lastIndexOf("x")).toBeLessThanOrEqual(3);
  expect(order).toHaveLength(6);
});

test.each(["1", "60", "86400", "Fri, 02 Jan 2026 00:00:00 GMT"])(
  "a Retry-After of %s does not make a service with a token bucket slow",
  async (header) => {
    for (const burst of [1, 10]) {
      const time = new VirtualTime();
      const bucket = new TrueBucket(1, burst);
      const call = calling(time, bucket, line);
      const told = async () => {
        const answer = await call();
        return answer.status === 429 ? refusedWith({ "retry-after": header }) : answer;
      };
      const { wallMs } = await makeCalls(time, pacer(time), 30 + burst, told);
      expect(wallMs).toBeLessThanOrEqual(30_000 * 1.02 + line.roundTripMs);
      expect(bucket.refused).toBeLessThanOrEqual(2);
    }
  },
);

test("a call that is refused for the time allowed fails and names the endpoint", async () => {
  const time = new VirtualTime();
  const pace = pacer(time, { totalMs: 60_000 });
  const call = time.during(pace(create, async () => refusedWith()));
  await expect(call).rejects.toMatchObject({
    code: "THROTTLED",
    effect: "none",
    message: expect.stringContaining("POST /channels is still over its rate limit"),
  });
  expect(time.now()).toBeGreaterThanOrEqual(60_000);
});

test("a long queue alone is no reason to fail", async () => {
  const time = new VirtualTime();
  const pace = pacer(time, { plan: "developer", totalMs: 60_000 });
  const { failed } = await makeCalls(time, pace, 30, calling(time, new TrueBucket(0.16, 2), line));
  expect(failed).toBe(0);
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

test("a call that arrives late at a full bucket does not make the next ones too many", async () => {
  const time = new VirtualTime();
  const bucket = new TrueBucket(5, 4);
  const pace = pacer(time, { rates: () => 5 });
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
  expect(bucket.refused).toBe(refused);
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
