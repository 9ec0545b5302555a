import fc from "fast-check";
import { expect, test } from "vitest";
import { basic, bodyWith, message, receiver, right } from "./support/callback-calls.js";

const runs = Number(process.env.FUZZ_RUNS ?? 1_000);

/** Names that the handler looks for, so that random objects come close to real ones. */
const names = fc.constantFrom(
  ...["messages", "message", "id", "messageId", "type", "value", "content", "json", "sender"],
  ...["conversation", "participant", "name", "attachments", "attachment", "size", "mimeType"],
  ...["attributes", "attribute", "parent", "recipients", "recipient", "created", "sent", "redact"],
  ...["__proto__", "constructor", "toString", "valueOf", "length"],
);

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6 },
    fc.constantFrom(
      null,
      true,
      false,
      0,
      -1,
      1e308,
      "",
      "text",
      "c-1",
      "{",
      '{"a":1}',
      "1".repeat(20),
    ),
    fc.string({ unit: "binary" }),
    fc.double(),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(names, tie("value"), { maxKeys: 5 }),
  ),
}));

/** Entries that are a message but for one change. */
const nearly = fc
  .tuple(names, value, fc.string())
  .map(([name, wrong, id]) => message(id, "x", { [name]: wrong }));

const bodies = fc.oneof(
  fc.string({ unit: "binary" }),
  value.map((any) => JSON.stringify(any) ?? ""),
  fc
    .array(fc.oneof(nearly, value), { maxLength: 4 })
    .map((list) => JSON.stringify(bodyWith(...list))),
);

const headerText = fc.string({
  unit: fc.integer({ min: 32, max: 126 }).map((c) => String.fromCharCode(c)),
});

const credentials = fc.oneof(
  fc.constant(null),
  headerText,
  headerText.map((text) => `Basic ${text}`),
  fc.tuple(headerText, headerText).map(([user, password]) => basic(user, password)),
  fc.base64String().map((text) => `Basic ${text}`),
  headerText.map((text) => `Bearer ${text}`),
  fc.integer({ min: 0, max: right.length - 1 }).map((end) => right.slice(0, end)),
);

const decoded = (header: string | null): string =>
  Buffer.from(/^basic +(\S+)\s*$/i.exec(header?.trim() ?? "")?.[1] ?? "", "base64").toString();

test("no body makes the handler fail, with the right credentials", async () => {
  const { deliver, errors } = receiver();
  await fc.assert(
    fc.asyncProperty(bodies, async (body) => {
      const { status } = await deliver(body);
      expect([202, 400]).toContain(status);
    }),
    { numRuns: runs },
  );
  const unexpected = errors.filter((error) => !(error instanceof Error && "code" in error));
  expect(unexpected).toEqual([]);
});

test("no header but the right one gets anything past the handler", async () => {
  const { deliver, received } = receiver();
  await fc.assert(
    fc.asyncProperty(credentials, bodies, async (authorization, body) => {
      fc.pre(decoded(authorization) !== "hub:secret");
      expect((await deliver(body, authorization)).status).toBe(401);
    }),
    { numRuns: runs },
  );
  expect(received).toEqual([]);
});
