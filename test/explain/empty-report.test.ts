import { expect, test } from "vitest";
import { explanationText } from "../../cli/explain/explain-command.js";

test("why there is no account comes before that there is none, within 80 columns", () => {
  const note = `accounts: GET /accounts was refused (403): ${"the client may not list them. ".repeat(5)}`;
  const lines = explanationText({ source: "here", accounts: [], notes: [note] }).split("\n");
  expect(lines[0]).toMatch(/^note: accounts: GET/);
  expect(lines.slice(-2)).toEqual(["There is no account to explain.", ""]);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
});
