import { expect, test } from "vitest";
import { VirtualTime } from "../../bench/virtual-time.js";
import { waitOutRefusals } from "../../provider/pacing/pacer.js";
import type { Wait } from "../../provider/service/pace.js";
import type { Endpoint } from "../../provider/service/transport.js";
import { answering, ok, refusedWith } from "../pacing/support/simulation.js";
import { JumpingClock, ManualClock, nextTurn } from "./support/clocks.js";

const list: Endpoint = { method: "GET", template: "/channels" };

test("refusals are waited out with 1, 2, 4, 8, 16, 16 seconds", async () => {
  const clock = new JumpingClock();
  const attempt = answering(...Array.from({ length: 6 }, () => refusedWith()), ok);
  const sentAt: number[] = [];
  await waitOutRefusals({ clock })(list, () => {
    sentAt.push(clock.time);
    return attempt();
  });
  expect(sentAt).toEqual([0, 1000, 3000, 7000, 15_000, 31_000, 47_000]);
});

test("callers of a refused endpoint queue in order of arrival, the refused one first", async () => {
  const clock = new ManualClock();
  const pace = waitOutRefusals({ clock });
  const order: string[] = [];
  const named = (name: string, ...answers: Parameters<typeof answering>) => {
    const attempt = answering(...answers);
    return pace(list, () => {
      order.push(name);
      return attempt();
    });
  };
  const first = named("first", refusedWith(), ok);
  await nextTurn();
  const others = [named("second", ok), named("third", ok)];
  await nextTurn();
  expect(order).toEqual(["first"]);
  clock.advance(1000);
  await Promise.all([first, ...others]);
  expect(order).toEqual(["first", "first", "second", "third"]);
});

test("calls that are refused together count as one refusal", async () => {
  const time = new VirtualTime();
  const pace = waitOutRefusals({ clock: time });
  const calls = Array.from({ length: 10 }, () => {
    const attempt = answering(refusedWith(), ok);
    return pace(list, async () => {
      await time.sleep(20);
      return attempt();
    });
  });
  await time.during(Promise.all(calls));
  // One pause; then one call at first, and one more with every call that succeeds.
  expect(time.now()).toBe(1000 + 20 + 4 * 20);
});

test("a refused call can be given up, and is not sent again", async () => {
  const clock = new ManualClock();
  const pace = waitOutRefusals({ clock });
  const giveUp = new AbortController();
  let attempts = 0;
  const attempt = async () => {
    attempts += 1;
    return refusedWith();
  };
  const call = pace(list, attempt, giveUp.signal);
  await nextTurn();
  giveUp.abort();
  await expect(call).rejects.toMatchObject({
    code: "CANCELLED",
    effect: "none",
    message: expect.stringContaining("Nothing was changed."),
  });
  await nextTurn();
  expect({ attempts, sleeping: clock.sleeping }).toEqual({ attempts: 1, sleeping: 0 });
});

test("a refused call that gives up lets those behind it go on", async () => {
  const clock = new ManualClock();
  const pace = waitOutRefusals({ clock });
  const giveUp = new AbortController();
  const first = pace(list, answering(refusedWith()), giveUp.signal);
  await nextTurn();
  const second = pace(list, answering(ok));
  giveUp.abort();
  await expect(first).rejects.toMatchObject({ code: "CANCELLED" });
  clock.advance(1000);
  expect(await second).toBe(ok);
});

test("an attempt that fails lets the next one go", async () => {
  const clock = new ManualClock();
  const pace = waitOutRefusals({ clock });
  const failing = answering(refusedWith());
  let attempts = 0;
  const first = pace(list, () => {
    attempts += 1;
    return attempts === 1 ? failing() : Promise.reject(new Error("broken"));
  });
  await nextTurn();
  const second = pace(list, answering(ok));
  clock.advance(1000);
  await expect(first).rejects.toThrow("broken");
  expect(await second).toBe(ok);
});

test("a long wait is announced with its length and the number of calls that wait", async () => {
  const waits: Wait[] = [];
  const pace = waitOutRefusals({ clock: new JumpingClock(), onWait: (wait) => waits.push(wait) });
  await pace(list, answering(refusedWith({ "retry-after": "5" }), ok));
  expect(waits).toEqual([{ method: "GET", template: "/channels", queued: 1, waitMs: 5000 }]);
});
