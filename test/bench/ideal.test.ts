import { expect, test } from "vitest";
import { idealIn, idealSeconds, overIdeal } from "../../bench/pacing.js";

test("calls within the burst take no time", () => {
  expect(idealSeconds(20, 1, 20)).toBe(0);
  expect(idealSeconds(5, 0.5, 20)).toBe(0);
});

test("calls beyond the burst wait for the rate", () => {
  expect(idealSeconds(200, 0.16, 1)).toBe(1243.75);
  expect(idealSeconds(50, 0.5, 10)).toBe(80);
});

test("an empty bucket has no burst", () => {
  expect(idealIn("empty", 50, 1, 20)).toBe(50);
  expect(idealIn("alone", 50, 1, 20)).toBe(30);
});

test("the ratio is wall time over the ideal", () => {
  expect(overIdeal(110, 100, 0)).toBeCloseTo(1.1);
});

test("where the ideal is no time there is no ratio", () => {
  expect(overIdeal(0.1, 0, 0)).toBeNull();
});

test("a client that gave up on a resource has no ratio", () => {
  expect(overIdeal(44, 294, 40)).toBeNull();
});
