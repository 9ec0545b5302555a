import { expect, test } from "vitest";
import { compact } from "../../cli/quickstart/pulumi-project.js";

const token = "pulumi-nodejs:dynamic/conversation:Channel";

test.each([
  [
    "a row of a resource",
    ` +  ${token} kiosk created (0.1s) `,
    "   +  Channel kiosk created (0.1s)",
  ],
  ["an error", "    error: it failed", "      error: it failed"],
  ["an error that looks like an output", '    error: "it" failed', '      error: "it" failed'],
  ["the count", "    + 12 created", "      + 12 created"],
  ["the heading of the messages", "Diagnostics:", "  Diagnostics:"],
  [
    "a row of the plan",
    ` ~  ${token} kiosk update [diff: ~icon]`,
    "   ~  Channel kiosk update [diff: ~icon]",
  ],
  [
    "a component",
    " +  conversation:index:ConversationAccount shop created (1s) ",
    "   +  ConversationAccount shop created (1s)",
  ],
  [
    "the row of the program with a warning",
    "   pulumi:pulumi:Stack x created (2s) 1 warning",
    "     pulumi:pulumi:Stack x created (2s) 1 warning",
  ],
])("%s is shown", (_, line, shown) => {
  expect(compact(line, false)).toBe(shown);
});

test.each([
  ["what is under way", ` +  ${token} kiosk creating (0s) `],
  [
    "what is under way, in colour",
    `\u001b[32m +  ${token} kiosk \u001b[1mcreating\u001b[0m (0s)\u001b[0m`,
  ],
  ["signs of life", "@ updating...."],
  ["empty lines", "  "],
  ["outputs", '    accountId       : "6c5e"'],
  ["outputs that are new", "    + accountId      : [unknown]"],
  ["outputs that change", '  ~ callbackUrl: "http://127.0.0.1:1" => "http://127.0.0.1:2"'],
  ["headings without a message", "Resources:"],
  ["the row of the program", " +  pulumi:pulumi:Stack default-account-quickstart created (2s)"],
])("%s is left out", (_, line) => {
  expect(compact(line, false)).toBeUndefined();
});

test.each([` +  ${token} kiosk create `, ` ~  ${token} kiosk update [diff: ~icon] `])(
  "the plan is left out where the result follows: %s",
  (line) => {
    expect(compact(line, true)).toBeUndefined();
  },
);

test("the sum of the plan stays", () => {
  expect(compact("    + 12 to create", true)).toBe("      + 12 to create");
});
