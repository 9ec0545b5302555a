import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ConversationErrorCode } from "../../provider/kernel/errors.js";
import { moreAbout } from "../../provider/kernel/package.js";
import { readPage } from "./pages.js";

const errors = readFileSync(join(__dirname, "../../provider/kernel/errors.ts"), "utf8");
const codes = [...errors.matchAll(/^ {2}\| "(\w+)"/gm)].map(([, code = ""]) => code);

/** What stands under each heading that is a code. */
const entries = new Map(
  [
    ...readPage("docs/troubleshooting.md").matchAll(
      /^### ([A-Z_]+)\n([\s\S]*?)(?=^##|$(?![\s\S]))/gm,
    ),
  ].map(([, code = "", text = ""]) => [code, text]),
);

test("every error code has an entry, in the order of the code", () => {
  expect(codes.length).toBeGreaterThan(15);
  expect([...entries.keys()]).toEqual(codes);
});

test.each(codes)(
  "%s: a message leads to its entry, which says how to see that it is fixed",
  (code) => {
    expect(moreAbout(code as ConversationErrorCode)).toMatch(
      new RegExp(`docs/troubleshooting\\.md#${code.toLowerCase()}$`),
    );
    const [before = "", fixed] = (entries.get(code) ?? "").split("\nVerify that ");
    expect(before.trim().split(" ").length).toBeGreaterThan(10);
    expect(fixed?.trim()).toMatch(/`.*\.$/s);
  },
);
