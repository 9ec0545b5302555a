import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type GoldenConversation,
  type GoldenMessage,
  goldenDifferences,
  goldenIn,
  goldenText,
} from "../../sdk/testing/golden-conversation.js";

const kind = fc.constantFrom("customer", "custom_bot", "platform_agent", "system");
const party = fc.oneof(
  fc.record({ kind }),
  fc.record({ kind, name: fc.string({ unit: "binary" }) }),
);
const word = fc.constantFrom("text", "richMessage.form", "agent.join");

const recipient = fc.oneof(
  fc.record({ party, isReached: fc.constant(true), why: fc.constant("") }),
  fc.record({ party, isReached: fc.constant(false), why: fc.constantFrom("500", "ECONNREFUSED") }),
);

const message: fc.Arbitrary<GoldenMessage> = fc.record({
  verb: fc.constantFrom("say", "hear"),
  sender: party,
  type: word,
  body: fc.dictionary(fc.string(), fc.jsonValue()).map((body) => JSON.parse(JSON.stringify(body))),
  recipients: fc.array(recipient, { maxLength: 3 }),
});

const conversation: fc.Arbitrary<GoldenConversation> = fc.record({
  channel: fc.string(),
  address: fc.string({ unit: "binary" }),
  customer: fc.string(),
  messages: fc.array(message, { maxLength: 6 }),
});

test("whatever was said comes back from the file as it was, and differs from itself in nothing", () => {
  fc.assert(
    fc.property(conversation, (given) => {
      const read = goldenIn("a.txt", goldenText(given));
      expect(read).toEqual(given);
      expect(goldenDifferences(given, read)).toEqual([]);
      expect(goldenText(read)).toBe(goldenText(given));
    }),
    { seed: 14, numRuns: 300 },
  );
});

test.each([
  ["", 1],
  ["account none", 1],
  ['account "a" "b" customer "c"\n\nshout customer - text {}', 3],
  ['account "a" "b" customer "c"\n  reaches customer -', 2],
])("a file that somebody has spoiled is refused with its line", (content, line) => {
  expect(() => goldenIn("golden/a.txt", content)).toThrow(
    `Could not read line ${line} of the golden file golden/a.txt`,
  );
});

test("a file that was spoiled anywhere is read, or refused with its line", () => {
  const spoiled = fc.tuple(conversation, fc.nat(), fc.nat({ max: 3 }), fc.string({ maxLength: 3 }));
  fc.assert(
    fc.property(spoiled, ([given, at, gone, come]) => {
      const text = goldenText(given);
      const place = at % (text.length + 1);
      try {
        goldenIn("a.txt", text.slice(0, place) + come + text.slice(place + gone));
      } catch (error) {
        expect(String(error)).toMatch(
          /^Error: Could not read line \d+ of the golden file a\.txt: "/,
        );
      }
    }),
    { seed: 14, numRuns: 1_000 },
  );
});

test("ends of lines may have been changed by version control", () => {
  const given = of(said, heard);
  expect(goldenIn("a.txt", goldenText(given).replaceAll("\n", "\r\n"))).toEqual(given);
});

const said: GoldenMessage = {
  verb: "say",
  sender: { kind: "customer", name: "Ada" },
  type: "text",
  body: { text: "Hi" },
  recipients: [{ party: { kind: "custom_bot", name: "orders" }, isReached: true, why: "" }],
};
const heard: GoldenMessage = {
  verb: "hear",
  sender: { kind: "custom_bot", name: "orders" },
  type: "text",
  body: { content: { text: "Hello" } },
  recipients: [{ party: { kind: "customer", name: "Ada" }, isReached: true, why: "" }],
};
const of = (...messages: readonly GoldenMessage[]): GoldenConversation => ({
  channel: "custom.web",
  address: "shop",
  customer: "Ada",
  messages,
});
const refused = {
  ...said,
  recipients: [{ party: { kind: "custom_bot", name: "orders" }, isReached: false, why: "500" }],
};
const toAgent = {
  ...said,
  recipients: [{ party: { kind: "custom_agent" }, isReached: true, why: "" }],
};

test.each([
  [
    "a callback that refuses",
    of(refused),
    [
      'customer "Ada" text "Hi" no longer reaches custom_bot "orders": 500',
      'custom_bot "orders" text {"text":"Hello"} is no longer sent; it reached customer "Ada"',
    ],
  ],
  [
    "another recipient",
    of(toAgent, heard),
    [
      'customer "Ada" text "Hi" no longer reaches custom_bot "orders": it is no longer a recipient',
      'customer "Ada" text "Hi" now reaches custom_agent',
    ],
  ],
  [
    "another answer",
    of(said, { ...heard, body: { content: { text: "Goodbye" } } }),
    [
      'custom_bot "orders" text {"text":"Hello"} is now custom_bot "orders" text {"text":"Goodbye"}',
    ],
  ],
  [
    "the same answer with something else",
    of(said, { ...heard, body: { content: { text: "Hello" }, attributes: { a: "b" } } }),
    [
      'custom_bot "orders" text {"text":"Hello"} is now custom_bot "orders" text {"text":"Hello"} {"content":{"text":"Hello"},"attributes":{"a":"b"}}',
    ],
  ],
  ["one answer more", of(said, heard, heard), ['custom_bot "orders" text {"text":"Hello"} is new']],
] as const)("%s is described in the words of the conversation", (_, now, lines) => {
  expect(goldenDifferences(of(said, heard), now)).toEqual(lines);
});
