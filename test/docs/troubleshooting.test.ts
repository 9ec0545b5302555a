import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readPage } from "./pages.js";

const errors = readFileSync(join(__dirname, "../../provider/kernel/errors.ts"), "utf8");

test("every error code has an entry, in the order of the code", () => {
  const codes = [...errors.matchAll(/^ {2}\| "(\w+)"/gm)].map(([, code]) => code);
  const entries = readPage("docs/troubleshooting.md").matchAll(/^### ([A-Z_]+)$/gm);
  expect(codes.length).toBeGreaterThan(15);
  expect([...entries].map(([, code]) => code)).toEqual(codes);
});
