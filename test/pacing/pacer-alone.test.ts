import { expect, test } from "vitest";
import { TrueBucket } from "../../bench/true-bucket.js";
import { unlimitedBurst } from "../../provider/pacing/pacer.js";
import { alone } from "./support/simulation.js";

const line = { roundTripMs: 40, jitterMs: 2 };

const cases = [0.16, 0.5, 1, 5, 30].flatMap((rate) =>
  [2, 3, 10, 100].map((burst) => ({ rate, burst })),
);

test.each(
  cases.flatMap((each) => [
    { ...each, start: "full", tokens: each.burst },
    { ...each, start: "empty", tokens: 0 },
  ]),
)(
  "$rate calls/s, burst $burst: at most 1 % over the ideal, at most 2 refused, from a bucket that is $start",
  async ({ rate, burst, tokens }) => {
    const extra = rate > 1 ? 150 : 50;
    const bucket = new TrueBucket(rate, burst, tokens);
    const { wallMs, refused, failed } = await alone(bucket, tokens + extra, line);
    const idealMs = (extra / rate) * 1000;
    expect(failed).toBe(0);
    expect(refused).toBeLessThanOrEqual(2);
    expect(wallMs).toBeGreaterThanOrEqual(idealMs - line.jitterMs);
    expect(wallMs).toBeLessThanOrEqual(idealMs * 1.01 + line.roundTripMs + line.jitterMs);
  },
);

test.each([0.16, 0.5, 1, 5].flatMap((rate) => [5, 20, 100].map((burst) => ({ rate, burst }))))(
  "$rate calls/s, burst $burst: the same for few calls beyond the burst on a short line",
  async ({ rate, burst }) => {
    const near = { roundTripMs: 2 };
    const { wallMs, refused } = await alone(new TrueBucket(rate, burst), burst + 8, near);
    expect(refused).toBeLessThanOrEqual(2);
    expect(wallMs).toBeLessThanOrEqual((8 / rate) * 1010 + near.roundTripMs);
  },
);

test.each([0.16, 0.5, 1].flatMap((rate) => [0, 1].map((tokens) => ({ rate, tokens }))))(
  "$rate calls/s, burst 1, $tokens tokens at the start: at most 2 % over the ideal, at most 2 refused",
  async ({ rate, tokens }) => {
    const { wallMs, refused, failed } = await alone(new TrueBucket(rate, 1, tokens), 50, line);
    const idealMs = ((50 - tokens) / rate) * 1000;
    expect(failed).toBe(0);
    expect(refused).toBeLessThanOrEqual(2);
    expect(wallMs).toBeLessThanOrEqual(idealMs * 1.02 + line.roundTripMs);
  },
);

test("a burst that no run uses up is no limit: no call waits for another", async () => {
  const bucket = new TrueBucket(1, unlimitedBurst);
  const { wallMs, refused } = await alone(bucket, 200, line, { burst: unlimitedBurst });
  expect(refused).toBe(0);
  expect(wallMs).toBeLessThanOrEqual(line.roundTripMs + line.jitterMs);
});
