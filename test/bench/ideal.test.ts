import { expect, test } from "vitest";
import { idealIn, idealSeconds, overIdeal } from "../../bench/pacing.js";

test.each([
  ["within the burst take no time", idealSeconds(20, 1, 20), 0],
  ["within the burst take no time, however slow the rate", idealSeconds(5, 0.5, 20), 0],
  ["beyond the burst wait for the rate", idealSeconds(200, 0.16, 1), 1243.75],
  ["beyond a larger burst do, too", idealSeconds(50, 0.5, 10), 80],
  ["of an empty bucket have no burst", idealIn("empty", 50, 1, 20), 50],
  ["of a full one have", idealIn("alone", 50, 1, 20), 30],
])("calls %s", (_, seconds, ideal) => {
  expect(seconds).toBe(ideal);
});

test("the ratio is wall time over the ideal; without an ideal, or with a failure, there is none", () => {
  expect(overIdeal(110, 100, 0)).toBeCloseTo(1.1);
  expect(overIdeal(0.1, 0, 0)).toBeNull();
  expect(overIdeal(44, 294, 40)).toBeNull();
});
