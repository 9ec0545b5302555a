import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as runtime from "../../sdk/runtime/index.js";
import { json } from "../service/support/fake-hub.js";
import { changedAt, placesIn } from "../support/json-places.js";
import { AssetHub, status } from "./support/asset-hub.js";
import { connectedClient } from "./support/connected-client.js";
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

const memberOf = (value: unknown, name: string): unknown => Reflect.get(Object(value), name);

const acceptingHub = async (): Promise<AssetHub> => {
  const hub = await AssetHub.start();
  hub.about = { size: 3 };
  hub.content = [
    (request, response) =>
      request.method === "GET"
        ? response.writeHead(200).end("abc")
        : status(200)(request, response),
  ];
  return hub;
};

/** The public functions of the package by their names, in front of services that accept everything. */
const publicSurface = async () => {
  const accepted = { messages: { message: [{ conversation: { id: "c-1" } }] } };
  const live = await connectedClient(json(202, accepted));
  const hub = await acceptingHub();
  const clientFor = (name: string) => (name.startsWith("assets.") ? hub.client : live.client);
  return {
    /** What a function is rightly called with. */
    rightCall: (name: string): readonly unknown[] => {
      const given = rightCalls[name] ?? [];
      if (name !== "request") return given;
      // Another service is on the same server as the hub.
      const baseUrl = `http://127.0.0.1:${live.hub.port}/portal/v4`;
      return [{ ...Object(given[0]), baseUrl }];
    },
    /** Calls a function with whatever is given; gives back what it fails with. */
    failureOf: async (name: string, given: readonly unknown[]): Promise<unknown> => {
      const [group = "", member] = name.split(".");
      const from = name === "request" || member ? clientFor(name) : runtime;
      const owner = member ? memberOf(from, group) : from;
      const called = memberOf(owner, member ?? group);
      if (typeof called !== "function") throw new Error(`there is no ${name}`);
      try {
        await Reflect.apply(called, owner, [...given]);
        return undefined;
      } catch (error) {
        return error;
      }
    },
    /** So many calls have been made, those for tokens included. */
    sentCalls: (): number => live.hub.calls.length + live.hub.tokenCalls.length + hub.calls.length,
    close: async () => {
      await live[Symbol.asyncDispose]();
      await hub[Symbol.asyncDispose]();
    },
  };
};

let surface: Awaited<ReturnType<typeof publicSurface>>;

beforeAll(async () => {
  surface = await publicSurface();
});

afterAll(() => surface.close());

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
        expect(runtime.isConversationError(failure)).toBe(true);
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
    if (failure !== undefined) expect(runtime.isConversationError(failure)).toBe(true);
  }
});
