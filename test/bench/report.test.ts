import { expect, test } from "vitest";
import { clients } from "../../bench/clients.js";
import { outcome, report } from "../../bench/report.js";
import { creation, figures } from "./figures.js";

test("a creation that went well shows time, ratio and refusals", () => {
  expect(outcome(creation())).toBe("294 s ×1.002, 2 refused");
});

test("without an ideal there is no ratio", () => {
  expect(outcome(creation({ wallSeconds: 0.53, overIdeal: null }))).toBe("0.5 s, 2 refused");
});

test("failed resources stand out, and no time is shown for them", () => {
  const text = outcome(creation({ failed: 40, overIdeal: null, refused: 178 }));
  expect(text).toBe("40 OF 50 FAILED, 178 refused");
});

test("every client has a row", () => {
  const lines = report(figures());
  for (const { name } of clients) {
    expect(lines.some((line) => line.startsWith(`${name}  `))).toBe(true);
  }
});

test("a part that was left out says so", () => {
  expect(report(figures()).join("\n")).toContain("Engine: not measured. It was left out");
});

test("the engine's floor and what is above it are shown", () => {
  const engine = {
    resources: 200,
    pulumi: "3.259.0",
    floorSeconds: 5,
    upSeconds: 8,
    overFloor: 1.6,
    commands: [
      {
        command: "up",
        floorSeconds: 5,
        sameValuesSeconds: 6.4,
        sameCallsSeconds: 7.2,
        seconds: 8,
        overFloor: 1.6,
        overSameValues: 1.25,
        overSameCalls: 1.11,
      },
    ],
  };
  expect(report(figures({ engine })).join("\n")).toMatch(
    /^up +5\.0 s +6\.4 s +7\.2 s +8\.0 s +×1\.11 +×1\.25 +×1\.60$/m,
  );
});

test("the pacer alone has a row for each endpoint", () => {
  const line = report(figures()).find((one) => one.startsWith("1/s, burst 10"));
  expect(line?.split(/ {2,}/)).toEqual([
    "1/s, burst 10",
    "60",
    "50.00 s",
    "50.10 s",
    "×1.002",
    "2",
  ]);
});
