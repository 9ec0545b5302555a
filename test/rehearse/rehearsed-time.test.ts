import { expect, onTestFinished, test } from "vitest";
import { startRelay } from "../../cli/rehearse/emulated-account.js";
import { RehearsedTime } from "../../cli/rehearse/rehearsed-time.js";
import { paths } from "../../emulator/http/listener.js";
import { startEmulator } from "../../emulator/index.js";

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

/** Counts how often the run was said to be awake. */
class WatchedTime extends RehearsedTime {
  wakings = 0;

  override woken(): void {
    this.wakings += 1;
    super.woken();
  }
}

test("calls of a neighbour on the machine are none of the run's, and do not hold its time up", async () => {
  await using emulator = await startEmulator();
  const time = new WatchedTime(8);
  let turns = 0;
  const relay = await startRelay({
    ...{ profile: undefined, basePath: paths.base, time, roundTripMs: 1 },
    target: new URL(emulator.baseUrl).origin,
    turnOf: (_, now) => {
      turns += 1;
      return now;
    },
  });
  onTestFinished(() => relay.close());
  const { origin } = new URL(relay.address);
  for (const path of ["/channels", "/channels/7", "/../x", "//", ""]) {
    const answer = await fetch(`${origin}${paths.base}${path}`, { method: "POST", body: "{}" });
    expect(answer.status).toBe(404);
  }
  expect({ calls: relay.calls, turns, wakings: time.wakings }).toEqual({
    ...{ calls: [], turns: 0, wakings: 0 },
  });
  const own = await fetch(`${relay.address}${paths.base}/channels`);
  expect(own.status).toBe(401);
  expect(relay.calls).toMatchObject([{ method: "GET", template: "/channels", status: 401 }]);
  expect({ turns, wakings: time.wakings }).toEqual({ turns: 1, wakings: 1 });
});
