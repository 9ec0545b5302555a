import { expect, test } from "vitest";
import { TrueBucket } from "../../bench/true-bucket.js";
import { conversationLimits } from "../../provider/pacing/plan-rates.js";
import { plans } from "../../provider/service/plans.js";
import { type Endpoint, endpointName } from "../../provider/service/transport.js";
import { alone } from "./support/simulation.js";

const line = { roundTripMs: 80, jitterMs: 2 };
const calls = 60;

const endpoints: readonly Endpoint[] = [
  { method: "POST", template: "/channels" },
  { method: "POST", template: "/conversations/messages" },
  { method: "GET", template: "/conversations/{id}" },
  { method: "POST", template: "/assets" },
  { method: "GET", template: "/assets/{id}" },
];

/** The first and the last call take their time. */
const allowedMs = 2 * line.roundTripMs;

const cases = plans.flatMap((plan) =>
  endpoints.map((endpoint) => {
    const { standard, own = {} } = conversationLimits(plan);
    return { plan, ...endpoint, ...(own[endpointName(endpoint)] ?? standard) };
  }),
);

/** 60 calls on a bucket of which the pacer believes what is documented. */
const run = async (
  { rate, burst }: { readonly rate: number; readonly burst: number },
  real: { readonly burst: number; readonly tokens?: number },
) => {
  const bucket = new TrueBucket(rate, real.burst, real.tokens);
  const outcome = await alone(bucket, calls, line, {
    limits: () => ({ standard: { rate, burst } }),
  });
  const idealMs = ((calls - (real.tokens ?? real.burst)) / rate) * 1000;
  return { ...outcome, idealMs };
};

test.each(cases)("$plan, $method $template: a full bucket", async (limit) => {
  const { wallMs, idealMs, refused, failed } = await run(limit, { burst: limit.burst });
  expect({ refused, failed }).toEqual({ refused: 0, failed: 0 });
  expect(wallMs).toBeLessThanOrEqual(idealMs * 1.005 + allowedMs);
});

test.each(cases)("$plan, $method $template: a bucket that is empty at the start", async (limit) => {
  const { wallMs, idealMs, refused, failed } = await run(limit, { burst: limit.burst, tokens: 0 });
  expect(failed).toBe(0);
  expect(refused).toBeLessThanOrEqual(2);
  expect(wallMs).toBeLessThanOrEqual(idealMs * 1.02 + allowedMs);
});

test.each(cases)("$plan, $method $template: really half of the burst", async (limit) => {
  const burst = Math.max(1, Math.floor(limit.burst / 2));
  const { wallMs, idealMs, failed } = await run(limit, { burst });
  expect(failed).toBe(0);
  // With a burst of one that nobody has told, a call may come a moment too early.
  expect(wallMs).toBeLessThanOrEqual(
    idealMs * (burst === 1 && limit.burst > 1 ? 1.7 : 1.05) + 1_000,
  );
});

test.each(cases)("$plan, $method $template: really twice the burst", async (limit) => {
  const documented = await run(limit, { burst: limit.burst });
  const { wallMs, refused, failed } = await run(limit, { burst: 2 * limit.burst });
  expect({ refused, failed }).toEqual({ refused: 0, failed: 0 });
  expect(wallMs).toBeLessThanOrEqual(documented.wallMs);
});
