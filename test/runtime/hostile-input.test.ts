import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isConversationError } from "../../sdk/runtime/index.js";
import { changedAt, placesIn } from "../support/json-places.js";
import { memberOf, type PublicSurface, publicSurface } from "./support/public-surface.js";
import { asset, list, rightCalls, text } from "./support/right-calls.js";

const circular = (): unknown => {
  const value: Record<string, unknown> = {};
  value.self = { value };
  return value;
};

const deep = (levels: number): unknown => {
  let value: unknown = "end";
  for (let level = 0; level < levels; level++) value = level % 2 ? [value] : { value };
  return value;
};

const throws = (): never => {
  throw new Error("trap");
};

const revoked = (): unknown => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

const traps = { get: throws, has: throws, ownKeys: throws, getOwnPropertyDescriptor: throws };

/** Values that break whoever reads them without care. Each use makes them anew. */
const makers: readonly (() => unknown)[] = [
  () => undefined,
  () => null,
  () => Symbol("s"),
  () => "\ud800",
  () => "\0",
  () => "../..",
  () => "__proto__",
  () => "x".repeat(5_000),
  () => ({ toString: throws, toJSON: throws, valueOf: throws, [Symbol.toPrimitive]: throws }),
  () => Object.defineProperty({}, "text", { enumerable: true, get: throws }),
  () => ({ inner: { half: "\ud800" } }),
  () => new (class Own {})(),
  () => throws,
  () => new Proxy({}, traps),
  () => new Proxy([], traps),
  revoked,
  circular,
  () => deep(20_000),
];

const further = {
  ...{ withBigInt: true, withDate: true, withMap: true, withSet: true, withTypedArray: true },
  ...{ withNullPrototype: true, withObjectString: true, withSparseArray: true },
};

/** One hostile value, made when it is used. */
const hostile: fc.Arbitrary<() => unknown> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...makers) },
  { weight: 2, arbitrary: fc.anything(further).map((value) => () => value) },
);

let surface: PublicSurface;

beforeAll(async () => {
  surface = await publicSurface();
});

afterAll(() => surface[Symbol.asyncDispose]());

/** The right argument of a function, with other members. */
const right = (name: string, changes: object): unknown => ({
  ...Object(rightCalls[name]?.[0]),
  ...changes,
});

test.each<[string, readonly unknown[], string]>([
  ["messages.escalate", ["c-1", "custom_bot", { content: { a: 1n } }], "content.a: is not a JSON"],
  ["messages.escalate", ["c-1", "custom_bot", { content: circular() }], "the input cannot be read"],
  ["messages.send", [text, { metadata: { a: 5 } }], "metadata.a: must be a string"],
  ["messages.send", [text, { signal: 5 }], "signal: must be an AbortSignal"],
  ["messages.reply", [5, text], "conversation must be a conversation ID"],
  ["messages.reply", [5, text], "{ conversationId: id }"],
  [
    "messages.reply",
    [{ id: "c-1" }, text],
    "its ID or { conversationId: id } to go on, not { id }",
  ],
  ["messages.send", [{ ...text, conversation: { id: "c-1" } }], "{ conversationId: id }"],
  [
    "messages.reply",
    [
      "c-1",
      {
        type: "richMessage.listpicker",
        sender: "custom_bot",
        content: changedAt(list, ["list", "sections", 0, "items", 0, "actions", 0], {
          type: "x",
          big: 1n,
        }),
      },
    ],
    "actions[0]",
  ],
  ["conversations.get", ["\ud800"], "cannot be the ID"],
  ["assets.create", [undefined], "channel is required"],
  ["assets.upload", [Buffer.from("abc"), undefined], "set the name option"],
  ["assets.upload", [5, asset], "the source must be a path or a Uint8Array"],
  ["assets.download", ["a-1", { signal: 5 }], "signal: must be an AbortSignal"],
  ["request", [right("request", { params: { id: "\ud800" } })], "params.id: contains an unpaired"],
  ["request", [right("request", { query: { q: "\ud800" } })], "query.q: contains an unpaired"],
  ["request", [right("request", { body: 1n })], "body: is not a JSON value"],
  ["request", [right("request", { method: "HEAD" })], "method: must be one of"],
  ["connect", [{}, { retry: { retries: -1 } }], "retry.retries: must not be negative"],
  ["connect", [{}, { onWait: 5 }], "onWait: must be a function"],
  ["callbacks", [right("callbacks", { messageTimeoutMs: 0 })], "messageTimeoutMs: must be greater"],
  ["callbacks", [right("callbacks", { onMessage: 5 })], "onMessage: must be a function"],
  ["callbacks", [right("callbacks", { memory: {} })], "memory: must have the methods take and"],
  ["startAuthorization", [right("startAuthorization", { scope: 5 })], "scope must be a non-empty"],
  ["codeFromRedirect", [5, "s"], "address must be a non-empty string"],
])("%s names what is wrong (%#)", async (name, given, said) => {
  const before = surface.sentCalls();
  expect(await surface.failureOf(name, given)).toMatchObject({
    code: expect.stringMatching(/^(INPUT|ID)_INVALID$/),
    message: expect.stringContaining(said),
  });
  expect(surface.sentCalls()).toBe(before);
});

const runs = Number(process.env.FUZZ_RUNS ?? 200);

/** What says that the caller has to mend something. `BAD_RESPONSE`: a redirect that holds no code. */
const callersOwn = [
  "INPUT_INVALID",
  "ID_INVALID",
  "SETTINGS_INVALID",
  "SETTINGS_MISSING",
  "BAD_RESPONSE",
  "TIMED_OUT",
];

test.each(Object.keys(rightCalls))(
  "%s fails well, whatever it is given, and before any call",
  async (name) => {
    const right = surface.rightCall(name);
    const places = placesIn(right).filter((place) => place.length > 0);
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...places), hostile, async (place, make) => {
        const value = make();
        const given = changedAt(right, place, value);
        const before = surface.sentCalls();
        const failure = await surface.failureOf(name, Array.isArray(given) ? given : []);
        if (failure === undefined) return;
        expect(isConversationError(failure)).toBe(true);
        expect(callersOwn).toContain(memberOf(failure, "code"));
        // What a function fails with, and what takes too long, is known only once it is tried.
        const isTried = typeof value === "function" || memberOf(failure, "code") === "TIMED_OUT";
        if (!isTried) expect(surface.sentCalls()).toBe(before);
      }),
      { numRuns: runs },
    );
  },
);

test.each(Object.keys(rightCalls))("%s fails well without anything", async (name) => {
  for (const given of [[], [undefined, null], [null], [null, null, null]]) {
    const failure = await surface.failureOf(name, given);
    if (failure !== undefined) expect(isConversationError(failure)).toBe(true);
  }
});
