import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { documented } from "../sdk/support/public-docs.js";

const root = join(__dirname, "..", "..");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** By the name of an entry point, such as `runtime`. */
const pages = new Map(
  Object.keys(manifest.exports)
    .filter((path) => path !== "./package.json")
    .map((path) => {
      const name = path.slice(2).replaceAll("/", "-") || "index";
      return [name, readFileSync(join(root, "docs", "api", `${name}.md`), "utf8")] as const;
    }),
);

/** Components are explained among the resources. */
const all = [...pages.values(), readFileSync(join(root, "docs/resources.md"), "utf8")].join("\n");
const members = new Set([...all.matchAll(/^[-|] `([\w.]+)/gm)].map(([, name]) => name));

test("every entry point has a page", () => {
  expect([...pages.keys()]).toEqual(expect.arrayContaining(["index", "runtime", "testing"]));
  for (const [name, page] of pages) expect(page.split("\n## ").length, name).toBeGreaterThan(1);
});

test("every public name and every member of it stands in the reference", () => {
  const names = documented().map(({ name }) => name);
  const missing = names.filter((name) => {
    const [owner = "", member] = name.split(".");
    return !all.includes(`## \`${owner}\`\n`) || (member !== undefined && !members.has(member));
  });
  expect(names.length).toBeGreaterThan(300);
  expect(missing).toEqual([]);
});

test("every name says what it is, and shows its shape without a look into the sources", () => {
  const sections = all.split(/^##+ `/m).slice(1);
  const untold = sections.filter((section) => /^\w+`\n\n```/.test(section));
  const hidden = sections.filter((section) => /^type .*\btypeof [a-z]|\{@/m.test(section));
  expect([...untold, ...hidden].map((section) => section.split("`")[0])).toEqual([]);
});

test("a received message shows its members, and so does an error", () => {
  const sections = all.split(/^##+ `/m);
  const membersOf = (name: string): readonly (string | undefined)[] =>
    [
      ...(sections.find((each) => each.startsWith(`${name}\``)) ?? "").matchAll(
        /^- `(\w+)\??[:(].*`: (?=\S)/gm,
      ),
    ].map(([, member]) => member);
  const message = ["text", "conversationId", "sender", "recipients", "attachments", "parent"];
  expect(membersOf("ReceivedMessage")).toEqual(
    expect.arrayContaining([...message, "raw", "type", "content"]),
  );
  expect(membersOf("ConversationError")).toEqual(
    expect.arrayContaining(["code", "details", "effect"]),
  );
  for (const name of ["Effect", "MessageFrame", "RetryLimits", "ServiceNote", "Wait"])
    expect(sections.some((each) => each.startsWith(`${name}\``))).toBe(true);
});

test("no name takes more than a screen to show its type", () => {
  const long = [...all.matchAll(/^```text\n([\s\S]*?)^```$/gm)].filter(
    ([, text = ""]) => text.split("\n").length > 45,
  );
  expect(long.map(([, text = ""]) => text.split("\n")[0])).toEqual([]);
});
