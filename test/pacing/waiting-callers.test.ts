import { AsyncLocalStorage } from "node:async_hooks";
import { expect, test } from "vitest";
import { VirtualTime } from "../../bench/session.js";
import { TrueBucket } from "../../bench/true-bucket.js";
import type { Wait } from "../../provider/service/http/pace.js";
import { calling, create, makeCalls, ok, pacer } from "./support/simulation.js";

const line = { roundTripMs: 20 };

test("a caller that gives up while waiting is told so, sends nothing and holds up nobody", async () => {
  const time = new VirtualTime();
  const pace = pacer(time, { burst: 1 });
  const bucket = new TrueBucket(1, 1);
  const call = calling(time, bucket, line);
  const stop = new AbortController();
  const first = pace(create, call);
  const given = pace(create, call, stop.signal).catch((error: unknown) => error);
  const last = pace(create, call);
  void time.sleep(300).then(() => stop.abort());
  await time.during(Promise.all([first, last]));
  expect(await given).toMatchObject({
    code: "CANCELLED",
    message: expect.stringContaining("Nothing was sent."),
  });
  expect(bucket.accepted).toBe(2);
  expect(time.now()).toBeLessThanOrEqual(1_100);
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

test("an attempt that fails passes its failure on and frees its place", async () => {
  const time = new VirtualTime();
  const pace = pacer(time, { burst: 1 });
  const failing = async () => {
    throw new Error("connection lost");
  };
  await expect(pace(create, failing)).rejects.toThrow("connection lost");
  expect(await time.during(pace(create, async () => ok))).toBe(ok);
});

test("waits are announced with the place in the queue, at most every 10 seconds", async () => {
  const time = new VirtualTime();
  const told: (Wait & { at: number })[] = [];
  const onWait = (wait: Wait) => told.push({ ...wait, at: time.now() });
  const pace = pacer(time, { burst: 1, onWait });
  await makeCalls(time, pace, 16, calling(time, new TrueBucket(1, 1), line));
  expect(told[0]).toMatchObject({ method: "POST", template: "/channels", queued: 15 });
  expect(told.every(({ waitMs }) => waitMs > 2_000)).toBe(true);
  expect(Math.max(...told.map(({ waitMs }) => waitMs))).toBeGreaterThan(14_000);
  expect(told.length).toBeGreaterThanOrEqual(12);
  expect(told.length).toBeLessThanOrEqual(20);
});

test("a wait that a refusal has made longer is announced at once", async () => {
  const time = new VirtualTime();
  const told: (Wait & { readonly caller: number; readonly at: number })[] = [];
  const caller = new AsyncLocalStorage<number>();
  const onWait = (wait: Wait) =>
    told.push({ ...wait, caller: caller.getStore() ?? -1, at: time.now() });
  const pace = pacer(time, { burst: 1, onWait });
  // Half of the rate that the pacer knows, so that calls are refused all the time.
  const bucket = new TrueBucket(0.5, 1);
  const call = calling(time, bucket, line);
  const gone: number[] = [];
  const calls = Array.from({ length: 12 }, (_, index) =>
    caller.run(index, async () => {
      await pace(create, () => {
        gone[index] = time.now();
        return call();
      });
    }),
  );
  await time.during(Promise.all(calls));
  expect(bucket.refused).toBeGreaterThan(0);
  for (const { caller: who, at, waitMs } of told) {
    const next = told.find((later) => later.caller === who && later.at > at);
    // What was told last holds until the call goes, or something else is told.
    expect(Math.min(next?.at ?? Number.POSITIVE_INFINITY, gone[who] ?? 0) - at).toBeLessThanOrEqual(
      waitMs + 3000,
    );
  }
});

test("a listener that fails does not fail the call", async () => {
  const time = new VirtualTime();
  const onWait = () => {
    throw new Error("no terminal");
  };
  const pace = pacer(time, { burst: 1, onWait });
  const outcome = await makeCalls(time, pace, 8, calling(time, new TrueBucket(1, 1), line));
  expect(outcome.failed).toBe(0);
});
