import { expect, test } from "vitest";
import { RehearsedTime } from "../../cli/rehearse/rehearsed-time.js";

test("an hour of waiting passes at once, and what is due happens in the order of time", async () => {
  const time = new RehearsedTime(1);
  const from = time.now();
  const order: string[] = [];
  await Promise.all([
    time.until(from + 3_600_000).then(() => order.push("hour")),
    time.until(from + 60_000).then(() => order.push("minute")),
    time.until(from + 60_000).then(() => order.push("minute, asked for later")),
  ]);
  expect(order).toEqual(["minute", "minute, asked for later", "hour"]);
  expect(time.now() - from).toBeGreaterThanOrEqual(3_600_000);
  expect(time.now() - from).toBeLessThan(3_602_000);
});

test("time is not moved on while the run still computes", async () => {
  const time = new RehearsedTime(2);
  const from = time.now();
  let work = 0;
  const working = time.during(
    () =>
      new Promise<void>((done) => {
        const turn = () => {
          work += 1;
          if (work < 50) setImmediate(turn);
          else done();
        };
        turn();
      }),
  );
  await time.until(from + 100_000);
  expect(work).toBe(50);
  await working;
});

test("time spent only waiting here is taken out again: what comes next begins where time stood", async () => {
  let real = 0;
  const time = new RehearsedTime(8, () => real);
  const due = time.until(5_000);
  // Nothing happens for a while; the clock of this machine goes on.
  real = 1_000;
  await due;
  expect(time.now()).toBe(5_000);
  real = 1_010;
  expect(time.now()).toBe(5_010);
});

test("closing lets everything happen that still waits", async () => {
  const time = new RehearsedTime(8);
  const waiting = time.until(time.now() + 1e9);
  time.close();
  await waiting;
});
