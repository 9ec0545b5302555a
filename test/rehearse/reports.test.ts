import { expect, test } from "vitest";
import { rehearsalReport } from "../../cli/rehearse/rehearsal-report.js";
import type { Refusal, Rehearsal, RehearsedStep } from "../../cli/rehearse/rehearsal-schema.js";
import { wrappedText } from "../../cli/terminal/columns.js";

const id = "7d1e3c80-3b5f-4a6e-9a55-0123456789ab";
const long = `${"a long name ".repeat(12)}日本`;

const step = (name: string, operation: string, ...properties: string[]): RehearsedStep => ({
  ...{ urn: `urn:${name}`, kind: "Participant", name, operation, id, properties },
});

const refusal = (name: string): Refusal => ({
  ...{ urn: `urn:${name}`, kind: "ClientApplication", name, operation: "delete" },
  reason: `it is in use by orchestration ${JSON.stringify(long)}`,
});

const rehearsal: Rehearsal = {
  ...{ operation: "up", project: "shop", stack: "prod", plan: "basic", parallel: 8 },
  outcome: {
    ...{ passes: true, totalSeconds: 75.3, objects: 1007, calls: ["GET /channels", "PUT /x"] },
    leftOut: [
      `urn:pulumi:prod::shop::${"a:b:C$".repeat(20)}time:index:Sleep::pause`,
      ...["a", "b", "c", "d"].map((name) => `urn:pulumi:prod::shop::random:index:Id::${name}`),
    ],
    steps: [
      ...Array.from({ length: 998 }, (_, index) => step(`bot${index}`, "update", "description")),
      ...["one", "two", "three"].map((name) => step(name, "update", "application", "description")),
      step("new", "create"),
    ],
    refusals: [],
    undeclared: [{ kind: "Account", name: long, id }],
  },
  notes: ["A note."],
};

const refused: Rehearsal = {
  ...rehearsal,
  outcome: {
    ...{ ...rehearsal.outcome, passes: false },
    refusals: ["app1", "app2", "app3", "app4", "app5"].map(refusal),
  },
};

test("equal steps are one line, small groups name their resources, and all fits one screen", () => {
  const text = rehearsalReport(rehearsal);
  const lines = text.split("\n");
  expect(lines.filter((line) => [...line].length > 80)).toEqual([]);
  expect(lines.length).toBeLessThan(30);
  expect(lines[0]).toBe(
    "pulumi up for shop/prod will succeed: 1002 changes, 2 calls, about 1 min 16 s.",
  );
  expect(text).toMatch(/^update +Participant +description +998 resources$/m);
  expect(text).toMatch(/^update +Participant +application, description +one, two, three$/m);
  expect(text).toMatch(/^create +Participant +new$/m);
  expect(text).toContain("After the run, the account contains 1007 objects.");
  expect(text).toMatch(/reach beyond the account:\n {2}- .*time:index:Sleep: pause\n/);
  expect(text).toContain("  - random:index:Id: 4 resources\n");
});

test("the first refusals are shown in full, and the others are counted", () => {
  const text = rehearsalReport(refused);
  expect(text).toContain("will fail: 5 steps will be refused");
  for (const name of ["app1", "app2", "app3"])
    expect(text).toContain(`✗ delete ClientApplication ${name}`);
  expect(text).toContain("… and 2 more (--json shows all)");
  expect(text).not.toContain("app4");
  expect(text).not.toContain("After the run");
  const one = { ...refused, outcome: { ...refused.outcome, refusals: [refusal("app")] } };
  expect(rehearsalReport(one)).toContain("will fail: 1 step will be refused");
});

test("words that are longer than a line stay whole", () => {
  const word = "u".repeat(100);
  expect(wrappedText(`a ${word} b`, "- ")).toEqual(["- a", `  ${word}`, "  b"]);
  expect(wrappedText("", "- ")).toEqual(["- "]);
});
