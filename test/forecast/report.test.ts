import fc from "fast-check";
import { expect, test } from "vitest";
import { forecastReport } from "../../provider/forecast/forecast-report.js";
import type { Forecast } from "../../provider/forecast/forecast-schema.js";
import { allOperations, endpointName } from "../../provider/service/http/operations.js";

const endpoints = allOperations().map(endpointName);
const seconds = fc.double({ min: 0, max: 400_000, noNaN: true });

const part = fc.record({
  endpoint: fc.constantFrom(...endpoints),
  calls: fc.integer({ min: 1, max: 100_000 }),
  resources: fc.array(
    fc.string({ minLength: 1, maxLength: 60 }).map((name) => `ClientApplication "${name}"`),
    { minLength: 1, maxLength: 5 },
  ),
  fromSeconds: seconds,
  toSeconds: seconds,
  waitsForRate: fc.boolean(),
});

const same = { totalSeconds: 12, savesSeconds: 0 };
const conditions = { plan: "developer", burst: 1, share: 1, parallel: 16, pageSize: 20 } as const;

const reported = (criticalPath: Forecast["criticalPath"]): string => {
  const forecast: Forecast = {
    operation: "up",
    plan: "developer",
    parallel: 16,
    totalCalls: 5,
    totalSeconds: 12,
    endpoints: [],
    criticalPath,
    plans: { developer: same, basic: same, enterprise: same },
  };
  return forecastReport(forecast, conditions, false, undefined);
};

test("the critical path keeps to 80 columns, with room for what it is about", () => {
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
      const lines = reported(parts).split("\n");
      for (const line of lines) expect([...line].length).toBeLessThanOrEqual(80);
      const [rule = ""] = lines.filter((line) => /^─+ {2}─+$/.test(line)).slice(-1);
      const [, path = ""] = rule.split("  ");
      expect(path.length).toBeGreaterThan(20);
      const words = lines.join(" ");
      for (const { endpoint } of parts) expect(words).toContain(endpoint);
    }),
    { numRuns: 200, seed: 5 },
  );
});

test("the report says that buckets are taken to be full", () => {
  expect(reported([])).toMatch(/Every bucket is taken to be full: /);
});
