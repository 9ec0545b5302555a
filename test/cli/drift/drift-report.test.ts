import fc from "fast-check";
import { expect, test } from "vitest";
import { driftMarkdown, driftMarker, driftReport } from "../../../cli/compare/reports.js";
import type { DriftResult } from "../../../cli/compare/schemas.js";
import { run } from "../session.js";

const id = "7c144c67-4ace-4e34-8b12-48816836df7d";
const result = (name: string): DriftResult => {
  const object = { kind: "ClientApplication", name, id, urn: `urn:pulumi:prod::shop::t::${name}` };
  return {
    ...{ project: "shop", stack: "prod", readAt: "2026-01-01T00:00:00.000Z", consistent: true },
    drift: true,
    changed: [
      {
        ...object,
        changes: [
          { path: `roles[${name}].callback`, state: JSON.stringify(name), live: "null" },
          { path: "basicAuth.password", state: "[secret]", live: "[secret]" },
        ],
        modified: "2026-01-01T00:00:00.000Z",
        who: `the stack that marked it: ${name}`,
      },
    ],
    deleted: [{ ...object, who: "not this stack, whose state still has it", sameName: id }],
    unmanaged: [{ ...object, standing: "left-over", label: `shop/prod ${name}` }],
    otherStacks: [{ ...object, stack: "site/prod" }],
    uncheckable: [{ ...object, paths: ["basicAuth.password", `headers[${name}]`] }],
    unread: [{ kind: "Channel", problem: "the scope is missing ".repeat(9) }],
    compared: 3,
    notes: ["a note ".repeat(30)],
  };
};

const hostile = [
  "plain",
  "a | b || c",
  "```js\n<script>alert(1)</script>",
  "@everyone ![x](https://x.example.com/y) [a](javascript:b)",
  "--> <!-- <details>",
  "ein sehr langer Name ".repeat(20),
  "n".repeat(400),
  "🙂é\u2028‮`",
  "a\\| b \\\\| <script>",
  "\u001b[31mred\u0007\u202eder",
  "",
];

test.each(hostile)("the report keeps to 80 columns and shows each id whole: %j", (name) => {
  const report = driftReport(result(name));
  for (const line of report.split("\n")) expect([...line].length).toBeLessThanOrEqual(80);
  expect(report.split(id).length).toBeGreaterThan(4);
});

test.each(hostile)(
  "nothing in a name is taken for Markdown, for HTML or for a mention: %j",
  (name) => {
    const comment = driftMarkdown(result(name));
    expect(comment.split("\n")[0]).toBe(driftMarker({ project: "shop", stack: "prod" }));
    // Without what stands as code nothing of the name is left.
    const outside = comment.replaceAll(/(`+)[\s\S]*?[^`]\1(?!`)/g, "");
    expect(outside).not.toMatch(/script|@everyone|javascript|langer|nnnn/);
    const tables = comment.split("\n").filter((line) => line.startsWith("|"));
    for (const line of tables) expect(line.endsWith(" |")).toBe(true);
  },
);

/** The cells of a row, as readers of Markdown split it: a backslash takes the next character with it. */
const cellsOf = (line: string): number => [...line.matchAll(/(?:\\.|[^|])+/g)].length;

test("whatever somebody calls an object, its row has as many cells as the heading, and shows no control character", () => {
  const text = fc.string({ unit: fc.constantFrom(..."a\\`|\n @<\u001b\u202e") });
  fc.assert(
    fc.property(text, (name) => {
      const comment = driftMarkdown(result(name));
      let heading = 0;
      for (const line of comment.split("\n")) {
        if (!line.startsWith("|")) heading = 0;
        else if (heading === 0) heading = cellsOf(line);
        else expect({ line, cells: cellsOf(line) }).toEqual({ line, cells: heading });
      }
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
      expect(comment + driftReport(result(name))).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
      expect(driftReport(result(name))).not.toMatch(/[\u202a-\u202e]/);
    }),
  );
});

test("the help tells what counts as drift, JSON and exit codes", async () => {
  const { out } = await run("drift", "--help");
  for (const text of ["unmanaged", "JSON: {", "Exit code: 0 no drift; 1 failed"])
    expect(out).toContain(text);
  for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
});

test("a wrong command line is 1, as 2 stands for drift", async () => {
  expect((await run("drift", "--nonsense")).code).toBe(1);
  expect((await run("drift", "--json", "--markdown")).code).toBe(1);
  expect((await run("repair", "--nonsense")).code).toBe(2);
});

test("secrets of many objects that cannot be checked are counted, and those touched since are named", () => {
  const plain = result("shop");
  const [one] = plain.uncheckable;
  if (!one) throw new Error("nothing uncheckable");
  const many = Array.from({ length: 1000 }, (_, at) => ({
    ...one,
    name: `object-${at}`,
    paths: [`roles[role-${at}].headers.X-Key`, "basicAuth.password"],
    ...(at === 7 ? { changedSince: "2026-01-01T00:00:00.000Z" } : {}),
  }));
  const report = driftReport({ ...plain, uncheckable: many });
  const [, section = ""] = /Cannot be checked[^\n]*\n\n([\s\S]*?)\n\n/.exec(report) ?? [];
  expect(section.split("\n").length).toBeLessThan(10);
  expect(section).toContain('ClientApplication "object-7"');
  expect(section).toContain("roles[].headers.X-Key of 999 objects");
  expect(section).toContain("basicAuth.password of 999 objects");
});
