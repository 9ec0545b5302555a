import { expect, test } from "vitest";
import { lintProse } from "./prose-linter.js";
import { proseTexts } from "./prose-texts.js";

test.each(Object.keys(proseTexts))("the English of the %s keeps the rules", (kind) => {
  const texts = proseTexts[kind]?.() ?? [];
  expect(texts.length).toBeGreaterThan(30);
  expect(texts.flatMap(lintProse)).toEqual([]);
});

test.each([
  ["You are told of the change.", "told"],
  ["The behaviour is documented.", "behaviour"],
  ["It is a reasonless thing.", "reasonless"],
  ["Where the name is taken, the run stops.", "Where the name is taken,"],
  ["The request is refused by the service.", "is refused by"],
  ["Pulumi shows the the difference.", "the"],
  ["This is an change.", "an"],
  ["The user sets the region.", "The user"],
  ["The object stays at the service.", "at the service"],
  ["The name is a text.", "a text"],
  ["It returns the names, as far as they are known.", "as far as"],
  ["The service refuses it for its rate.", "for its rate"],
  ["You need Pulumi 3.254 or newer.", "or newer"],
  ["The version of Node is too old.", "Node"],
  ["Specify the id of an object.", "id"],
  ["The run deletes its left-overs.", "left-overs"],
  ["The password is in clear text.", "clear text"],
  ["The file is beside the program.", "beside"],
  ["With `--data` it keeps the objects.", "With `code` it"],
  ["Otherwise the run fails.", "Otherwise the"],
  [`Pulumi shows ${"one change and ".repeat(10)}the state.`, "34 words"],
  ["| Name | Meaning |\n|---|---|\n| `rate` | The colour of a call |", "colour"],
])("%s is a finding", (text, found) => {
  const [finding, ...more] = lintProse({ file: "page.md", line: 7, text });
  expect(finding).toMatch(/^page\.md:[79] /);
  expect(finding).toContain(found);
  expect(more).toEqual([]);
});

test("good English, code and names are none", () => {
  const text = [
    "# Pulumi's state",
    "",
    "Your program's `behaviour` follows `the user`. Run `told` after OAuth's grant, and read HTTP's rules.",
    "",
    "```sh",
    "echo behaviour told where nothing is",
    "```",
  ].join("\n");
  expect(lintProse({ file: "page.md", line: 1, text })).toEqual([]);
});

/** Files of each sort that a person reads, with a word that only this sort of text there has. */
const sorts: Readonly<Record<string, readonly (readonly [file: string, word: string])[]>> = {
  pages: [
    ["README.md", "Pulumi"],
    ["docs/guides/first-bot.md", "emulator"],
    ["examples/new-project/AGENTS.md", "Never"],
  ],
  messages: [
    ["cli/commands/doctor.ts", "Check"],
    ["cli/commands/compare.ts", "--save"],
    ["provider/resources/channel.ts", "transport"],
    ["emulator/page/browser/calls.mjs", "Calls"],
    ["emulator/page/browser/index.html", "Views"],
    ["package.json", "hub"],
  ],
  "doc comments": [
    ["sdk/runtime/pkce.ts", "redirect"],
    // Of a tag.
    ["sdk/runtime/pkce.ts", "state of the authorization"],
  ],
  examples: [
    ["examples/new-project/index.ts", "email"],
    ["examples/new-project/index.test.ts", "HTTPS"],
    ["examples/new-project/ci/report.sh", "Markdown"],
    ["examples/new-project/ci/comment.mjs", "comment"],
    ["examples/new-project/.gitlab-ci.yml", "Schedule"],
    ["examples/new-project/.github/workflows/conversation.yml", "pull request"],
    ["examples/orders-bot/bot.mts", "order"],
  ],
};

test.each(Object.entries(sorts))("the %s are those of every sort", (kind, expected) => {
  const texts = proseTexts[kind]?.() ?? [];
  const missing = expected.filter(
    ([file, word]) => !texts.some((each) => each.file === file && each.text.includes(word)),
  );
  expect(missing).toEqual([]);
});
