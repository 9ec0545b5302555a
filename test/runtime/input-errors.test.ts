import { afterAll, beforeAll, expect, test } from "vitest";
import { changedAt } from "../support/json-places.js";
import { type PublicSurface, publicSurface } from "./support/public-surface.js";
import { asset, list, rightCalls, text } from "./support/right-calls.js";

let surface: PublicSurface;

beforeAll(async () => {
  surface = await publicSurface();
});

afterAll(() => surface[Symbol.asyncDispose]());

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
  ["messages.reply", [5, text], "{ conversationId: id }"],
  ["messages.reply", [{ id: "c-1" }, text], "give its id itself, or { conversationId: id }"],
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
    [{ ...Object(rightCalls.request?.[0]), params: { id: "\ud800" } }],
    "params.id: holds half",
  ],
  [
    "request",
    [{ ...Object(rightCalls.request?.[0]), query: { q: "\ud800" } }],
    "query.q: holds half",
  ],
  ["request", [{ ...Object(rightCalls.request?.[0]), body: 1n }], "body cannot be written as JSON"],
  [
    "request",
    [{ ...Object(rightCalls.request?.[0]), body: circular }],
    "body cannot be written as JSON: self",
  ],
  ["request", [{ ...Object(rightCalls.request?.[0]), method: "HEAD" }], "method: must be one of"],
  ["connect", [{}, { retry: { retries: -1 } }], "retry.retries: must not be below 0"],
  ["connect", [{}, { onWait: 5 }], "onWait: must be a function"],
  [
    "callbacks",
    [{ ...Object(rightCalls.callbacks?.[0]), maxWaiting: 0 }],
    "maxWaiting: must be at least 1",
  ],
  [
    "callbacks",
    [{ ...Object(rightCalls.callbacks?.[0]), onMessage: 5 }],
    "onMessage: must be a function",
  ],
  [
    "callbacks",
    [{ ...Object(rightCalls.callbacks?.[0]), accepts: ["x"] }],
    "accepts[0]: must be a message type",
  ],
  ["rateOf", [{ ...Object(rightCalls.rateOf?.[0]), plan: 5 }], "plan: must be text"],
  [
    "authorizationUrl",
    [{ ...Object(rightCalls.authorizationUrl?.[0]), scope: 5 }],
    "scope must be text",
  ],
  ["codeFromRedirect", [5, "s"], "address must be text or a URL"],
  [
    "exchangeCode",
    [{ ...Object(rightCalls.exchangeCode?.[0]), signal: 5 }],
    "signal must be an AbortSignal",
  ],
])("%s names what is wrong (%#)", async (name, given, said) => {
  const before = surface.sentCalls();
  expect(await surface.failureOf(name, given)).toMatchObject({
    code: expect.stringMatching(/^(INPUT|ID)_INVALID$/),
    message: expect.stringContaining(said),
  });
  expect(surface.sentCalls()).toBe(before);
});
