import { expect, test } from "vitest";
import { clients } from "../../bench/clients.js";
import type { CreationFigure, Figures } from "../../bench/figures.js";
import { idealIn, idealSeconds, overIdeal } from "../../bench/pacing.js";
import { outcome, panelsOf, report } from "../../bench/report.js";

/** A figure of a creation that went well. */
const creation = (changes: Partial<CreationFigure> = {}): CreationFigure => ({
  client: "pulumi-conversation",
  plan: "developer",
  situation: "alone",
  rate: 0.16,
  burst: 3,
  resources: 50,
  idealSeconds: 293.75,
  wallSeconds: 294.3,
  overIdeal: 294.3 / 293.75,
  calls: 52,
  refused: 2,
  failed: 0,
  ...changes,
});

const everyClient = (changes: Partial<CreationFigure> = {}): CreationFigure[] =>
  clients.map(({ name }) => creation({ client: name, ...changes }));

/** Figures as a run gives them. */
const figures = (changes: Partial<Figures> = {}): Figures => ({
  version: "1.2.3",
  node: "24.0.0",
  cores: 2,
  inFlight: 8,
  line: { roundTripMs: 80, jitterMs: 20 },
  creation: everyClient(),
  disturbed: everyClient({ plan: "enterprise", situation: "empty" }),
  refresh: [
    { way: "list", plan: "basic", resources: 200, wallSeconds: 20.9, calls: 21, refused: 1 },
  ],
  crossCheck: { real: [creation()], virtual: [creation({ wallSeconds: 295 })] },
  pacer: [
    {
      rate: 1,
      burst: 10,
      calls: 60,
      idealSeconds: 50,
      wallSeconds: 50.1,
      overIdeal: 1.002,
      refused: 2,
    },
  ],
  engine: { skipped: "Skipped with --no-engine." },
  overhead: {
    requests: 10,
    inFlight: 1,
    client: { requestsPerSecond: 20_000, cpuMicrosecondsPerRequest: 30 },
    pool: { requestsPerSecond: 40_000, cpuMicrosecondsPerRequest: 20 },
    cpuOverPool: 1.5,
  },
  seconds: 60,
  ...changes,
});

test.each([
  ["time, ratio and refusals", {}, "294 s ×1.002, 2 refused"],
  ["no ratio without an ideal", { wallSeconds: 0.53, overIdeal: null }, "0.5 s, 2 refused"],
  ["failed resources and no time", { failed: 40, overIdeal: null }, "40 OF 50 FAILED, 2 refused"],
])("a creation shows %s", (_, changes, text) => {
  expect(outcome(creation(changes))).toBe(text);
});

const seconds = { floorSeconds: 5, sameValuesSeconds: 6.4, sameCallsSeconds: 7.2, seconds: 8 };
const ratios = { overFloor: 1.6, overSameValues: 1.25, overSameCalls: 1.11 };
const engine = {
  ...{ resources: 200, pulumi: "3.259.0", floorSeconds: 5, upSeconds: 8, overFloor: 1.6 },
  commands: [{ command: "up", ...seconds, ...ratios }],
};

test.each([
  ...clients.map(({ name }) => [`the client ${name}`, {}, new RegExp(`^${name}  `, "m")] as const),
  ["a part that was left out", {}, /Engine: not measured\. Skipped with --no-engine/],
  [
    "the engine's floor and what is above it",
    { engine },
    /^up +5\.0 s +6\.4 s +7\.2 s +8\.0 s +×1\.11 +×1\.25 +×1\.60$/m,
  ],
  [
    "the pacer alone, by endpoint",
    {},
    /^1\/s, burst 10 {2,}60 {2,}50\.00 s {2,}50\.10 s {2,}×1\.002 {2,}2$/m,
  ],
] as const)("the report has a row for %s", (_, changes, row) => {
  expect(report(figures(changes)).join("\n")).toMatch(row);
});

test("panels are by plan, then the empty bucket; what is shared has no ideal and no panel", () => {
  const given = {
    creation: [creation(), creation({ plan: "basic", rate: 0.5 }), creation({ resources: 10 })],
    disturbed: [creation({ situation: "empty" }), creation({ situation: "shared" })],
  };
  const titles = panelsOf(given, 50).map(({ title, rows }) => `${title} (${rows.length})`);
  expect(titles).toEqual([
    "Developer: 0.16 calls/s (1)",
    "Basic: 0.5 calls/s (1)",
    "Developer, empty bucket (1)",
  ]);
});

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
