import { expect, test } from "vitest";
import { rehearsalReport } from "../../cli/rehearse/rehearsal-report.js";
import type { Rehearsal } from "../../cli/rehearse/rehearsal-schema.js";
import { wrappedText } from "../../provider/kernel/columns.js";

const id = "7d1e3c80-3b5f-4a6e-9a55-0123456789ab";
const long = `${"a long name ".repeat(12)}日本`;

const rehearsal: Rehearsal = {
  ...{ operation: "up", project: "shop", stack: "prod", plan: "basic", parallel: 8 },
  outcome: {
    ...{
      passes: false,
      totalSeconds: 75.3,
      totalCalls: 3,
      objects: 7,
      leftOut: [`urn:pulumi:prod::shop::${"a:b:C$".repeat(20)}time:index:Sleep::pause`],
    },
    calls: [],
    steps: Array.from({ length: 60 }, (_, index) => ({
      ...{ urn: `urn:${index}`, kind: "Participant", name: `bot${index}`, operation: "update" },
      ...{ calls: 2, fromSeconds: index, toSeconds: index + 1.25 },
    })),
    refusals: [
      {
        ...{ urn: "urn:a", kind: "ClientApplication", name: "app", operation: "delete" },
        reason: `it is in use by orchestration ${JSON.stringify(long)}`,
        inTheWay: [{ kind: "Orchestration", name: "<b>night</b> | `x`\n# y", id }],
        order: ["Delete that by hand.", "Then run the command again."],
      },
      {
        ...{ urn: "urn:b", operation: "create", reason: "taken", inTheWay: [], order: [] },
        ...{ kind: "Channel", name: "web", later: true },
      },
    ],
    changes: [{ change: "changed", kind: "Channel", name: "web", id, members: ["icon"] }],
    undeclared: [{ kind: "Account", name: long, id }],
  },
  alternatives: [
    { switches: { put: "keep" }, passes: true, differences: ["Afterwards it is so."] },
  ],
  unaffectedSwitches: ["staleModified"],
  notes: ["A note."],
};

test("a rehearsal fits a terminal of 80 columns, with everything that is refused", () => {
  const text = rehearsalReport(rehearsal);
  const tooLong = text.split("\n").filter((line) => [...line].length > 80);
  expect(tooLong).toEqual([]);
  expect(text).toContain("will fail: 1 step will be refused");
  expect(text).toContain("The result is the same however the service handles staleModified (see");
  expect(text).toMatch(/--also <type> runs them too\):\n {2}- time:index:Sleep pause\n\n/);
  expect(text).toContain("✗ delete ClientApplication app");
  expect(text).toContain(id);
  expect(text).toContain("(after the others)");
  expect(text).toContain("… and 20 more (--json shows all)");
  expect(text).toContain("With put=keep (see emulator --help), the run succeeds:");
});

test("one that goes through unless the service behaves otherwise says so", () => {
  const { refusals: _, ...outcome } = rehearsal.outcome;
  const passing = {
    ...rehearsal,
    outcome: { ...outcome, refusals: [], passes: true, isIdempotent: true },
    alternatives: [{ switches: { put: "keep" }, passes: false, differences: ["x"] }],
  };
  const text = rehearsalReport(passing);
  expect(text).toContain("will succeed unless the service behaves differently");
  expect(text).toContain("A second run would find no changes and no drift.");
});

test("words that are longer than a line stay whole", () => {
  const word = "u".repeat(100);
  expect(wrappedText(`a ${word} b`, "- ")).toEqual(["- a", `  ${word}`, "  b"]);
  expect(wrappedText("", "- ")).toEqual(["- "]);
});
