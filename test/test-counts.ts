/** How many tests passed, failed and were skipped. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export const noTests: Counts = { passed: 0, failed: 0, skipped: 0 };

export const sum = (a: Counts, b: Counts): Counts => ({
  passed: a.passed + b.passed,
  failed: a.failed + b.failed,
  skipped: a.skipped + b.skipped,
});

const record = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? { ...value } : {};

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const numberOf = (value: unknown): number => (typeof value === "number" ? value : 0);

/** A file that could not even be loaded holds no test, but it is a failure. */
const brokenFiles = (report: Record<string, unknown>): number =>
  list(report.testResults)
    .map(record)
    .filter(
      (file) =>
        file.status === "failed" &&
        list(file.assertionResults).every((test) => record(test).status !== "failed"),
    ).length;

/** The counts in the text of vitest's JSON report. */
export const countsIn = (json: string): Counts => {
  const report = record(JSON.parse(json));
  return {
    passed: numberOf(report.numPassedTests),
    failed: numberOf(report.numFailedTests) + brokenFiles(report),
    skipped: numberOf(report.numPendingTests) + numberOf(report.numTodoTests),
  };
};

/** `12 passed, 0 failed, 1 skipped`: the last line of a test run. */
export const countsLine = ({ passed, failed, skipped }: Counts): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
