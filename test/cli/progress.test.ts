import { stripVTControlCharacters } from "node:util";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { progressOn } from "../../cli/terminal/progress.js";

const recorder = (isTTY: boolean) => {
  let text = "";
  return {
    isTTY,
    columns: 60,
    write: (more: string) => {
      text += more;
    },
    text: () => text,
  };
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("without a terminal a line appears at the start, every 15 seconds and at the end", () => {
  const stream = recorder(false);
  const step = progressOn(stream).step("Building");
  vi.advanceTimersByTime(31_000);
  step.done("Built");
  expect(stream.text()).toBe("Building …\n  Building … 15 s\n  Building … 30 s\n✓ Built (31 s)\n");
});

test("the detail of the moment stands in the line", () => {
  const stream = recorder(false);
  const step = progressOn(stream).step("Building");
  step.detail("7 packages compiled");
  vi.advanceTimersByTime(15_000);
  step.failed();
  expect(stream.text()).toContain("Building … 15 s, 7 packages compiled\n✗ Building (15 s)\n");
});

test("on a terminal one line is redrawn and never wraps", () => {
  const stream = recorder(true);
  const step = progressOn(stream).step("x".repeat(100));
  vi.advanceTimersByTime(2000);
  step.done("Done");
  const drawn = stream.text().split("\r\x1b[K");
  expect(drawn.length).toBeGreaterThan(3);
  const widths = drawn.slice(1, -1).map((line) => stripVTControlCharacters(line).length);
  expect(Math.max(...widths)).toBeLessThan(60);
});

test("nothing is written after the end", () => {
  const stream = recorder(false);
  progressOn(stream).step("Building").done();
  const before = stream.text();
  vi.advanceTimersByTime(60_000);
  expect(stream.text()).toBe(before);
});
