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

test("without a terminal a dot appears at least every 2 seconds", () => {
  const stream = recorder(false);
  const step = progressOn(stream).step("Building");
  const seen: number[] = [];
  for (let second = 0; second < 6; second += 2) {
    vi.advanceTimersByTime(2000);
    seen.push(stream.text().length);
  }
  expect(new Set(seen).size).toBe(3);
  step.done("Built");
  expect(stream.text()).toBe("Building …\n...\n✓ Built (6 s)\n");
});

test("without a terminal a line says every half minute how far it is", () => {
  const stream = recorder(false);
  const step = progressOn(stream).step("Building");
  step.detail("package 7 of 9");
  vi.advanceTimersByTime(34_000);
  step.done("Built");
  const dots = ".".repeat(16);
  expect(stream.text()).toBe(
    `Building …\n${dots}\n  Building … 32 s, package 7 of 9\n✓ Built (34 s)\n`,
  );
});

test("a line that is printed begins a new one, and counts as a sign of life", () => {
  const stream = recorder(false);
  const life = progressOn(stream).alive("pulumi up");
  vi.advanceTimersByTime(2000);
  life.print("created");
  vi.advanceTimersByTime(1000);
  life.print("done");
  life.end();
  expect(stream.text()).toBe(".\ncreated\ndone\n");
});

test("on a terminal the line that is redrawn makes room for one that is printed", () => {
  const stream = recorder(true);
  const life = progressOn(stream).alive("pulumi up");
  life.print("created");
  life.end();
  expect(stripVTControlCharacters(stream.text())).toContain("pulumi up … 0 s\rcreated\n");
});

test("the detail of the moment stands in the line", () => {
  const stream = recorder(true);
  const step = progressOn(stream).step("Building");
  step.detail("7 packages compiled");
  vi.advanceTimersByTime(15_000);
  step.failed();
  expect(stream.text()).toContain("Building … 15 s, 7 packages compiled");
  expect(stripVTControlCharacters(stream.text())).toContain("✗ Building (15 s)\n");
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
