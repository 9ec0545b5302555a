import { expect, test } from "vitest";
import { settled } from "../service/support/clocks.js";
import { message, receiver, right, v1, v3 } from "./support/callback-calls.js";

test("version v3 is understood", async () => {
  const { deliver, received } = receiver({ platformName: "acme" });
  const wire = message("1", "Hello", {
    messageId: "m-1",
    sender: { type: "acme_agent", participant: { name: "Ann" } },
    attachments: { attachment: [{ name: "a.png", contentType: "image/png", size: "5", url: "u" }] },
    attributes: { attribute: [{ name: "k", value: "v" }] },
    parent: { messageId: "m-0" },
  });
  expect((await deliver(v3(wire))).status).toBe(200);
  expect(received).toEqual([
    {
      id: "1",
      messageId: "m-1",
      type: "text",
      conversationId: "c-1",
      text: "Hello",
      content: { text: "Hello" },
      sender: { kind: "platform_agent", name: "Ann" },
      recipients: [],
      attachments: [{ name: "a.png", contentType: "image/png", size: 5, url: "u" }],
      attributes: { k: "v" },
      parent: "m-0",
      raw: wire,
    },
  ]);
});

test("version v1 is understood", async () => {
  const { deliver, received } = receiver();
  const wire = message("1", "", {
    sender: { type: "user" },
    content: "Hi",
    timeStamp: 1767225600000,
  });
  await deliver(v1(wire));
  expect(received).toMatchObject([
    { id: "1", text: "Hi", sender: { kind: "user" }, sent: new Date("2026-01-01T00:00:00Z") },
  ]);
});

test("content may be an object, plain text, or JSON inside a text", async () => {
  const { deliver, received } = receiver();
  const list = { type: "list", title: "Which?" };
  const picker = { type: { value: "richMessage.listpicker" } };
  await deliver(
    v3(
      message("1", "", { content: "plain" }),
      message("2", "", { content: '{"text":"still a text"}' }),
      message("3", "", { ...picker, content: list }),
      message("4", "", { ...picker, content: JSON.stringify(list) }),
      message("5", "", { ...picker, content: "{broken" }),
    ),
  );
  expect(received.map(({ text, content }) => text ?? content)).toEqual([
    "plain",
    '{"text":"still a text"}',
    list,
    list,
    "{broken",
  ]);
});

test("types that are unknown or not wanted are discarded, and the call is answered all the same", async () => {
  const { deliver, received, errors } = receiver({ accepts: ["text"] });
  const bodies = ["text.loud", "typing.start", "text"].map((value) =>
    message(value, "", { type: { value } }),
  );
  expect((await deliver(v3(...bodies))).status).toBe(200);
  expect(received.map(({ type }) => type)).toEqual(["text"]);
  expect(errors).toEqual([]);
});

test("entries that are no messages are dropped and told, and the others arrive", async () => {
  const { deliver, received, errors } = receiver();
  const lost = message("2", "", { conversation: {} });
  expect((await deliver(v3(null, 5, {}, lost, message("1")))).status).toBe(200);
  expect(received.map(({ id }) => id)).toEqual(["1"]);
  expect(errors).toMatchObject([
    { code: "BAD_RESPONSE", message: expect.stringContaining("4 of") },
  ]);
});

test.each([
  ["no JSON", "<xml/>"],
  ["nothing", ""],
  ["a list", "[]"],
  ["no messages", "{}"],
  ["messages that are no list", '{"messages":{"message":{}}}'],
])("a body with %s gets a 400", async (_, body) => {
  expect((await receiver().deliver(body)).status).toBe(400);
});

test.each(["GET", "PUT", "DELETE", "HEAD"])("%s gets a 405", async (method) => {
  const request = new Request("http://x.example/", { method, headers: { authorization: right } });
  const response = await receiver().handler.fetch(request);
  expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
});

test("a body that is too long gets a 413, one of the limit passes", async () => {
  const body = JSON.stringify(v3(message("1", "é".repeat(50))));
  const maxBytes = Buffer.byteLength(body);
  expect((await receiver({ maxBytes }).deliver(body)).status).toBe(200);
  const { deliver, received } = receiver({ maxBytes: maxBytes - 1 });
  expect((await deliver(body)).status).toBe(413);
  expect(received).toEqual([]);
});

test("a message that comes again is taken once; the memory has an end", async () => {
  const { deliver, received } = receiver({ remembered: 2 });
  await deliver(v3(message("1"), message("2"), message("1")));
  await deliver(v1(message("2"), message("3")));
  await deliver(v3(message("1")));
  expect(received.map(({ id }) => id)).toEqual(["1", "2", "3", "1"]);
});

test("without the service's id the sender's own tells a repeat, within its conversation", async () => {
  const { deliver, received } = receiver();
  const own = (conversation: string) =>
    message("", conversation, {
      id: undefined,
      messageId: "m-1",
      conversation: { id: conversation },
    });
  await deliver(v3(own("a"), own("b"), own("a")));
  const none = message("", "x", { id: undefined });
  await deliver(v3(none, none));
  expect(received.map(({ text }) => text)).toEqual(["a", "b", "x", "x"]);
});

test("messages of a conversation wait for each other, other conversations do not", async () => {
  const log: string[] = [];
  const gates = new Map<string, () => void>();
  const { handler } = receiver({
    onMessage: async ({ id = "" }) => {
      log.push(`begin ${id}`);
      await new Promise<void>((resolve) => gates.set(id, resolve));
      log.push(`end ${id}`);
    },
  });
  const other = message("b1", "", { conversation: { id: "c-2" } });
  const body = JSON.stringify(v3(message("a1"), message("a2"), other));
  const init = { method: "POST", headers: { authorization: right }, body };
  const response = await handler.fetch(new Request("http://x.example/", init));
  expect([response.status, log]).toEqual([200, []]);
  await settled();
  await settled();
  expect(log).toEqual(["begin a1", "begin b1"]);
  gates.get("a1")?.();
  await settled();
  expect(log).toEqual(["begin a1", "begin b1", "end a1", "begin a2"]);
  gates.get("a2")?.();
  gates.get("b1")?.();
  await handler.idle();
  expect([...log].sort()).toEqual([
    "begin a1",
    "begin a2",
    "begin b1",
    "end a1",
    "end a2",
    "end b1",
  ]);
});

test("what the program fails with is told with its message, and the next one goes on", async () => {
  const told: unknown[] = [];
  const { deliver } = receiver({
    onMessage: async ({ id }) => {
      if (id === "1") throw new Error("first");
      told.push(id);
    },
    onError: (error, about) => {
      told.push([error instanceof Error && error.message, about?.id]);
      throw new Error("even so");
    },
  });
  expect((await deliver(v3(message("1"), message("2")))).status).toBe(200);
  expect(told).toEqual([["first", "1"], "2"]);
});

test("when too many messages wait, calls are put off and come again", async () => {
  let open: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const taken: unknown[] = [];
  const { handler, deliver } = receiver({
    maxWaiting: 2,
    onMessage: async ({ id }) => {
      await gate;
      taken.push(id);
    },
  });
  const send = (...ids: string[]) => {
    const body = JSON.stringify(v3(...ids.map((id) => message(id))));
    const init = { method: "POST", headers: { authorization: right }, body };
    return handler.fetch(new Request("http://x.example/", init));
  };
  expect((await send("1", "2")).status).toBe(200);
  const putOff = await send("3");
  expect([putOff.status, putOff.headers.get("retry-after")]).toEqual([503, "1"]);
  open();
  await handler.idle();
  expect((await deliver(v3(message("3")))).status).toBe(200);
  expect(taken).toEqual(["1", "2", "3"]);
});
