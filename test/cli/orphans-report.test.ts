import { expect, test } from "vitest";
import { type OrphansResult, orphansReport } from "../../cli/repair/orphans.js";
import { wrapped } from "../../provider/kernel/columns.js";
import { run } from "./session.js";

test("the help tells standings, JSON and exit codes", async () => {
  const { out } = await run("orphans", "--help");
  for (const text of [
    "left-over",
    "held",
    "copy",
    "former",
    "JSON: [{",
    "Exit code: 0 done; 1",
    "2 wrong",
  ])
    expect(out).toContain(text);
  for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
});

test("the report keeps to 80 columns, and never cuts an id", () => {
  const id = "0".repeat(36);
  const orphan = (standing: "left-over" | "held" | "copy" | "former", more = {}) => ({
    ...{
      kind: "ClientApplication",
      name: "n".repeat(200),
      id,
      label: `shop/prod ${"l".repeat(70)}`,
    },
    ...{ standing, ...more },
  });
  const result: OrphansResult = {
    names: { project: "shop", stack: "prod" },
    notes: [],
    found: [
      orphan("left-over", { pending: true }),
      orphan("left-over", { deleted: false, reason: "x ".repeat(90) }),
      orphan("held", {
        heldBy: [{ stack: "organization/site/prod", urn: "urn:pulumi:a::b::c::web" }],
      }),
      orphan("copy"),
      orphan("former"),
    ],
  };
  const report = orphansReport(result);
  for (const line of report.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  expect(report.split(id)).toHaveLength(result.found.length + 2);
  expect(report).toContain("its creation is");
  expect(report).toMatch(/Kept: ClientApplication/);
});

test.each([
  ["a bb ccc", 4, ["a bb", "ccc"]],
  ["abcdef gh", 4, ["abcd", "ef", "gh"]],
  ["", 4, []],
  ["ab😀cd", 3, ["ab", "😀c", "d"]],
])("%j in %s columns", (text, columns, lines) => {
  expect(wrapped(text, columns)).toEqual(lines);
});
