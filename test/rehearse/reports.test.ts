import { expect, test } from "vitest";
import { rehearsalMarkdown, rehearsalReport } from "../../cli/rehearse/rehearsal-report.js";
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
  inTheWay: [
    {
      ...{ kind: "Orchestration", name: "<b>night</b> | `x`\n# y", id, managed: "unmanaged" },
      path: "applications.agentConfiguration.agents[0]",
    },
  ],
});

const rehearsal: Rehearsal = {
  ...{ operation: "up", project: "shop", stack: "prod", plan: "basic", parallel: 8 },
  outcome: {
    ...{ passes: true, totalSeconds: 75.3, totalCalls: 2001, objects: 1007, calls: [] },
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
    refusals: [
      ...["app1", "app2", "app3", "app4", "app5"].map(refusal),
      { ...refusal("web"), later: true },
    ],
  },
};

test("equal steps are one line, small groups name their resources, and all fits one screen", () => {
  const text = rehearsalReport(rehearsal);
  const lines = text.split("\n");
  expect(lines.filter((line) => [...line].length > 80)).toEqual([]);
  expect(lines.length).toBeLessThan(30);
  expect(lines.slice(0, 2).join(" ")).toBe(
    "pulumi up for shop/prod will succeed: 1002 changes, 2001 calls, about 1 min 15 s.",
  );
  expect(text).toMatch(/^update +Participant +998 resources +description$/m);
  expect(text).toMatch(/^update +Participant +one, two, three +application, description$/m);
  expect(text).toMatch(/^create +Participant +new$/m);
  expect(text).toContain("After the run, the account contains 1007 objects.");
  expect(text).toMatch(/--also <type> runs them too\):\n {2}- .*time:index:Sleep: pause\n/);
  expect(text).toContain("  - random:index:Id: 4 resources\n");
});

test("the first refusals are shown in full, and the others are counted", () => {
  const text = rehearsalReport(refused);
  expect(text).toContain("will fail: 5 steps will be refused");
  for (const name of ["app1", "app2", "app3"])
    expect(text).toContain(`✗ delete ClientApplication ${name}`);
  expect(text).toContain("in the way: Orchestration");
  expect(text).toContain("… and 3 more (--json shows all)");
  expect(text).not.toContain("app4");
  expect(text).not.toContain("After the run");
  const [, ...later] = refused.outcome.refusals.toReversed();
  const one = { ...refused, outcome: { ...refused.outcome, refusals: later.slice(0, 1) } };
  expect(rehearsalReport(one)).toContain("will fail: 1 step will be refused");
});

test("a refusal that only comes after others says so", () => {
  const later = { ...refusal("web"), later: true as const };
  const outcome = { ...refused.outcome, refusals: [refusal("app"), later] };
  expect(rehearsalReport({ ...refused, outcome })).toContain(
    "✗ delete ClientApplication web (after the others)",
  );
});

test("a comment holds the report in a code block that no name can end", () => {
  const [marker, title, , fence, ...rest] = rehearsalMarkdown(refused).split("\n");
  expect(marker).toBe("<!-- pulumi-conversation rehearse -->");
  expect(title).toMatch(/^### ❌ pulumi up for `shop\/prod` will fail/);
  expect(fence).toBe("```text");
  expect(rest.at(-2)).toBe("```");
  const outcome = { ...rehearsal.outcome, undeclared: [{ kind: "Account", name: "a````b", id }] };
  expect(rehearsalMarkdown({ ...rehearsal, outcome })).toContain("\n`````text\n");
});

test("words that are longer than a line stay whole", () => {
  const word = "u".repeat(100);
  expect(wrappedText(`a ${word} b`, "- ")).toEqual(["- a", `  ${word}`, "  b"]);
  expect(wrappedText("", "- ")).toEqual(["- "]);
});
