import { expect, test } from "vitest";
import { VirtualTime } from "../../bench/virtual-time.js";

test("sleepers wake in the order of their times, and time is where the last one woke", async () => {
  const time = new VirtualTime();
  const woken: string[] = [];
  const sleeper = async (name: string, ms: number) => {
    await time.sleep(ms);
    woken.push(`${name} ${time.now()}`);
  };
  await time.during(Promise.all([sleeper("b", 20), sleeper("a", 5), sleeper("c", 1_000_000)]));
  expect(woken).toEqual(["a 5", "b 20", "c 1000000"]);
});

test("the process's own timers and dates are virtual while it is installed", async () => {
  const time = new VirtualTime();
  const real = globalThis.setTimeout;
  const restore = time.install();
  try {
    const start = Date.now();
    await time.during(new Promise((resolve) => setTimeout(resolve, 3_600_000)));
    expect(Date.now() - start).toBe(3_600_000);
  } finally {
    restore();
  }
  expect(globalThis.setTimeout).toBe(real);
});

test("a sleeper that is called off does not hold time back", async () => {
  const time = new VirtualTime();
  const end = new AbortController();
  const long = time.sleep(1_000_000, end.signal).catch(() => "called off");
  await time.during(time.sleep(1).then(() => end.abort()));
  expect(await long).toBe("called off");
  expect(time.now()).toBe(1);
});

test("waiting for nothing is a failure, not a standstill", async () => {
  const time = new VirtualTime();
  await expect(time.during(new Promise(() => {}))).rejects.toThrow("no timer is left to wait for");
});
