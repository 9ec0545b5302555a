import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as runtime from "../../sdk/runtime/index.js";
import { JumpingClock } from "../service/support/clocks.js";
import { json } from "../service/support/fake-hub.js";
import { AssetHub, status } from "./support/asset-hub.js";
import { type ConnectedClient, connectedClient } from "./support/connected-client.js";
import { changedAt, hostile, placesIn } from "./support/hostile-values.js";

const runs = Number(process.env.FUZZ_RUNS ?? 400);

let live: ConnectedClient;
let hub: AssetHub;

beforeAll(async () => {
  live = await connectedClient(
    json(202, { messages: { message: [{ conversation: { id: "c-1" } }] } }),
  );
  hub = await AssetHub.start();
  hub.about = { size: 3 };
  hub.content = [
    (request, response) =>
      request.method === "GET"
        ? response.writeHead(200).end("abc")
        : status(200)(request, response),
  ];
});

afterAll(async () => {
  await live[Symbol.asyncDispose]();
  await hub[Symbol.asyncDispose]();
});

const conversation = "c-1";
const sender = { kind: "customer", name: "Ada" };
const signal = new AbortController().signal;
const start = {
  account: { channel: "custom.kiosk", address: "k-1" },
  customer: { name: "Ada", attributes: { a: "b" }, contacts: [{ type: "email", address: "a@b" }] },
  entryPoint: "1007",
};
const list = {
  title: "Which?",
  list: {
    sections: [{ title: "Open", items: [{ id: "1", title: "x", actions: [{ type: "y" }] }] }],
  },
};
const text = { type: "text", text: "Hi", sender, conversation, extra: { a: { b: [1] } } };
const asset = { channel: "custom.kiosk", sender: "customer", name: "a.png", size: 3 };
const verifier = "v".repeat(43);

/** What each function of the package is rightly called with. */
const calls: Readonly<Record<string, readonly unknown[]>> = {
  "messages.send": [[text, { ...text, attributes: { k: "v" } }], { metadata: { a: "b" }, signal }],
  "messages.start": [{ ...text, conversation: start }, { signal }],
  "messages.reply": [
    { conversationId: "c-1" },
    { type: "richMessage.listpicker", sender: "custom_bot", content: list },
    { signal },
  ],
  "messages.escalate": ["c-1", "custom_bot", { content: { a: [1] }, messageId: "m" }, { signal }],
  "messages.end": ["c-1", "customer", { attributes: { a: { value: "b", external: true } } }, {}],
  "conversations.get": ["c-1", { signal }],
  "assets.create": [asset, { signal }],
  "assets.get": ["a-1", { signal }],
  "assets.delete": ["a-1", { signal }],
  "assets.upload": [
    randomBytes(3),
    { ...asset, contentType: "image/png", timeoutMs: 5_000, signal },
  ],
  "assets.download": ["a-1", undefined, { timeoutMs: 5_000, onProgress: () => {}, signal }],
  request: [
    {
      service: "Portal Manager",
      version: "v4",
      baseUrl: "http://127.0.0.1:1/portal/v4",
      method: "POST",
      path: "/portals/{id}",
      params: { id: "1" },
      query: { q: "a", n: 1 },
      body: { a: [{ b: 1 }] },
      signal,
    },
  ],
  connect: [
    {
      baseUrl: "https://h.example/v3",
      tokenUrl: "https://h.example/t",
      clientId: "c",
      clientSecret: "s",
    },
    { pacing: "after-refusal", retry: { retries: 1 }, environment: {}, onWait: () => {} },
  ],
  callbacks: [
    {
      authenticate: { basic: { username: "u", password: "p" } },
      onMessage: () => {},
      accepts: ["text"],
    },
  ],
  conversationApp: [{ authenticate: { bearer: "b" }, maxWaiting: 5, acknowledge: "after" }],
  redisMemory: [{ url: "redis://localhost", name: "bot", rememberMs: 5 }],
  rateOf: [
    { service: "Conversation", version: "v3", plan: "basic", method: "GET", template: "/x" },
  ],
  likelyBurst: [
    { service: "Conversation", version: "v3", plan: "basic", method: "GET", template: "/x" },
  ],
  authorizationUrl: [
    {
      authUrl: "https://h.example/a",
      clientId: "c",
      redirectUri: "https://h.example/b",
      scope: ["a", "b"],
      state: "s",
      challenge: "c".repeat(43),
    },
  ],
  startAuthorization: [
    {
      authUrl: "https://h.example/a",
      clientId: "c",
      redirectUri: "https://h.example/b",
      scope: "a",
    },
  ],
  codeFromRedirect: ["https://h.example/b?code=c&state=s", "s"],
  challengeOf: [verifier],
  exchangeCode: [
    {
      tokenUrl: "https://h.example/t",
      clientId: "c",
      redirectUri: "https://h.example/b",
      code: "c",
      verifier,
      fetch: async () => ({ status: 200, text: async () => '{"access_token":"t"}' }),
      timeoutMs: 1_000,
    },
  ],
  maySend: ["customer", "text"],
  sendersOf: ["text"],
};

const memberOf = (value: unknown, name: string): unknown => Reflect.get(Object(value), name);

/** Calls a function by its name, with whatever is given; gives back what it fails with. */
const failureOf = async (name: string, given: readonly unknown[]): Promise<unknown> => {
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
};

/** Another service is on the same server as the hub. */
const rightCall = (name: string): readonly unknown[] => {
  const given = calls[name] ?? [];
  if (name !== "request") return given;
  const baseUrl = `http://127.0.0.1:${live.hub.port}/portal/v4`;
  return [{ ...Object(given[0]), baseUrl }];
};

const clientFor = (name: string) => (name.startsWith("assets.") ? hub.client : live.client);

const sentCalls = (): number =>
  live.hub.calls.length + live.hub.tokenCalls.length + hub.calls.length;

/** What says that the caller has to mend something. `BAD_RESPONSE`: a redirect that holds no code. */
const callersOwn = [
  ...[
    "INPUT_INVALID",
    "ID_INVALID",
    "SETTINGS_INVALID",
    "SETTINGS_MISSING",
    "BAD_RESPONSE",
    "TIMED_OUT",
  ],
];

test.each(Object.keys(calls))(
  "%s fails well, whatever it is given, and before any call",
  async (name) => {
    const right = rightCall(name);
    // A function in place of fetch cannot be told from one that finds no way.
    const places = placesIn(right).filter((place) => place.length > 0 && place[1] !== "fetch");
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...places), hostile, async (place, make) => {
        const value = make();
        // Any text may be the path of a file, and the answer is the file system's.
        fc.pre(!(name === "assets.download" && place[0] === 1 && typeof value === "string"));
        const given = changedAt(right, place, value);
        const before = sentCalls();
        const failure = await failureOf(name, Array.isArray(given) ? given : []);
        if (failure === undefined) return;
        expect(runtime.isConversationError(failure)).toBe(true);
        expect(callersOwn).toContain(memberOf(failure, "code"));
        // What a function fails with, and what takes too long, is known only once it is tried.
        const isTried = typeof value === "function" || memberOf(failure, "code") === "TIMED_OUT";
        if (!isTried) expect(sentCalls()).toBe(before);
      }),
      { numRuns: runs },
    );
  },
);

test.each(Object.keys(calls))("%s fails well without anything", async (name) => {
  for (const given of [[], [undefined, null], [null], [null, null, null]]) {
    const failure = await failureOf(name, given);
    if (failure !== undefined) expect(runtime.isConversationError(failure)).toBe(true);
  }
});

const circular: Record<string, unknown> = {};
circular.self = circular;

test.each<[string, readonly unknown[], string]>([
  [
    "messages.send",
    [{ ...text, extra: { a: 1n } }],
    "extra: must be a JSON object: a is no JSON value",
  ],
  ["messages.send", [{ ...text, extra: circular }], "extra: must be a JSON object: self.self"],
  ["messages.send", [text, { metadata: { a: 5 } }], "metadata.a: must be text"],
  ["messages.send", [text, { signal: 5 }], "signal: must be an AbortSignal"],
  ["messages.reply", [5, text], "conversation: must be the id"],
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
  ["conversations.get", ["\ud800"], "cannot be the id"],
  ["assets.create", [undefined], "channel must be"],
  [
    "assets.upload",
    [Buffer.from("abc"), { ...asset, timeoutMs: -1 }],
    "timeoutMs: must be above 0",
  ],
  [
    "assets.upload",
    [Buffer.from("abc"), { ...asset, onProgress: 5 }],
    "onProgress: must be a function",
  ],
  ["assets.upload", [Buffer.from("abc"), undefined], "name has to be given"],
  ["assets.download", ["a-1", 5], "the target is no path and no stream"],
  [
    "request",
    [{ ...Object(calls.request?.[0]), params: { id: "\ud800" } }],
    "params.id: holds half",
  ],
  ["request", [{ ...Object(calls.request?.[0]), query: { q: "\ud800" } }], "query.q: holds half"],
  ["request", [{ ...Object(calls.request?.[0]), body: 1n }], "body cannot be written as JSON"],
  [
    "request",
    [{ ...Object(calls.request?.[0]), body: circular }],
    "body cannot be written as JSON: self",
  ],
  ["request", [{ ...Object(calls.request?.[0]), method: "HEAD" }], "method: must be one of"],
  ["connect", [{}, { retry: { retries: -1 } }], "retry.retries: must not be below 0"],
  ["connect", [{}, { onWait: 5 }], "onWait: must be a function"],
  [
    "callbacks",
    [{ ...Object(calls.callbacks?.[0]), maxWaiting: 0 }],
    "maxWaiting: must be at least 1",
  ],
  [
    "callbacks",
    [{ ...Object(calls.callbacks?.[0]), onMessage: 5 }],
    "onMessage: must be a function",
  ],
  [
    "callbacks",
    [{ ...Object(calls.callbacks?.[0]), accepts: ["x"] }],
    "accepts[0]: must be a message type",
  ],
  ["rateOf", [{ ...Object(calls.rateOf?.[0]), plan: 5 }], "plan: must be text"],
  [
    "authorizationUrl",
    [{ ...Object(calls.authorizationUrl?.[0]), scope: 5 }],
    "scope must be text",
  ],
  ["codeFromRedirect", [5, "s"], "address must be text or a URL"],
  [
    "exchangeCode",
    [{ ...Object(calls.exchangeCode?.[0]), signal: 5 }],
    "signal must be an AbortSignal",
  ],
])("%s names what is wrong (%#)", async (name, given, said) => {
  const before = sentCalls();
  expect(await failureOf(name, given)).toMatchObject({
    code: expect.stringMatching(/^(INPUT|ID)_INVALID$/),
    message: expect.stringContaining(said),
  });
  expect(sentCalls()).toBe(before);
});

test("hooks that fail become warnings, and change no call", async () => {
  const warnings: string[] = [];
  const listen = (warning: Error) => void warnings.push(warning.message);
  process.on("warning", listen);
  const failing = () => {
    throw new Error("broken hook");
  };
  const clock = new JumpingClock();
  let calls = 0;
  await using other = await connectedClient(
    (...call) => {
      calls += 1;
      json(calls === 1 ? 429 : 202, {})(...call);
    },
    {},
    {
      clock,
      onWait: failing,
      onRequest: failing,
      onResponse: () => Promise.reject(new Error("x")),
    },
  );
  expect(await other.client.messages.end("c-1", "customer")).toMatchObject({
    conversationId: "c-1",
  });
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", listen);
  expect(new Set(warnings)).toEqual(
    new Set([
      "onWait failed: broken hook",
      "onRequest failed: broken hook",
      "onResponse failed: x",
    ]),
  );
});
