import { expect, test } from "vitest";
import { countsIn, countsLine, sum } from "../test-counts.js";

const report = {
  numPassedTests: 7,
  numFailedTests: 1,
  numPendingTests: 2,
  numTodoTests: 1,
  testResults: [
    { status: "passed", assertionResults: [{ status: "passed" }] },
    { status: "failed", assertionResults: [{ status: "failed" }] },
  ],
};

test("counts come from the report of the test runner", () => {
  expect(countsIn(JSON.stringify(report))).toEqual({ passed: 7, failed: 1, skipped: 3 });
});

test("a file that could not be loaded is a failure", () => {
  const broken = { ...report, testResults: [{ status: "failed", assertionResults: [] }] };
  expect(countsIn(JSON.stringify(broken)).failed).toBe(2);
});

test("the last line names the skipped ones only where there are some", () => {
  expect(countsLine({ passed: 3, failed: 0, skipped: 0 })).toBe("3 passed, 0 failed");
  expect(countsLine({ passed: 3, failed: 1, skipped: 2 })).toBe("3 passed, 1 failed, 2 skipped");
});

test("counts add up", () => {
  const one = { passed: 1, failed: 2, skipped: 3 };
  expect(sum(one, one)).toEqual({ passed: 2, failed: 4, skipped: 6 });
});
