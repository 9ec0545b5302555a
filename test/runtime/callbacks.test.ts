import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { systemClock } from "../../provider/kernel/clock.js";
import { conversationApp, type MessageMemory } from "../../sdk/runtime/index.js";
import { createProcessMemory } from "../../sdk/runtime/message-memory.js";
import { ManualClock, nextTurn } from "../service/support/clocks.js";
import {
  ask,
  bodyWith,
  call,
  inConversation,
  message,
  never,
  progressed,
  receiver,
  right,
} from "./support/callback-calls.js";

test("version v3 is understood", async () => {
  const { deliver, received } = receiver({ platformName: "acme" });
  const wire = message("1", "Hello", {
    messageId: "m-1",
    sender: { type: "acme_agent", participant: { name: "Ann" } },
    attachments: { attachment: [{ name: "a.png", contentType: "image/png", size: 5, url: "u" }] },
    attributes: {
      attribute: [
        { name: "k", value: "v" },
        { name: "n", value: 5 },
      ],
    },
    parent: { id: "0", messageId: "m-0" },
    intent: { value: "greeting" },
    created: "2026-01-02T03:04:05.006Z",
  });
  expect((await deliver(bodyWith(wire))).status).toBe(202);
  expect(received).toEqual([
    {
      id: "1",
      messageId: "m-1",
      type: "text",
      conversationId: "c-1",
      text: "Hello",
      sender: { kind: "platform_agent", name: "Ann" },
      recipients: [],
      attachments: [{ name: "a.png", contentType: "image/png", size: 5, url: "u" }],
      attributes: { k: "v" },
      parent: "0",
      intent: "greeting",
      created: new Date("2026-01-02T03:04:05.006Z"),
      raw: wire,
    },
  ]);
});

test("version v1 is understood", async () => {
  const { deliver, received } = receiver();
  const file = { name: "a.png", mimeType: "image/png", url: "/files/a.png" };
  const content = { type: "text/plain; charset=utf-8", value: "Hi" };
  await deliver(bodyWith(message("1", "", { content, attachments: { attachment: [file] } })));
  expect(received).toMatchObject([
    {
      text: "Hi",
      sender: { kind: "customer", name: "Ada" },
      attachments: [{ name: "a.png", contentType: "image/png", url: "/files/a.png" }],
    },
  ]);
});

test("a message with the longest transcript that the vendor allows arrives", async () => {
  const { deliver, received } = receiver();
  const told = Array.from({ length: 200 }, (_, place) => message(`${place}`, "あ".repeat(10_000)));
  const conversation = { id: "c-1", ...bodyWith(...told) };
  expect((await deliver(bodyWith(message("1", "", { conversation })))).status).toBe(202);
  expect(received).toHaveLength(1);
});

test("a time without a zone is in GMT, wherever the program runs", async () => {
  const { deliver, received } = receiver();
  const [created, sent] = ["2026-01-02 03:04:05.006", "2026-01-02T03:04:05"];
  await deliver(
    bodyWith(message("1", "", { created, sent }), message("2", "", { created: 1767225600 })),
  );
  expect(received[0]).toMatchObject({
    created: new Date("2026-01-02T03:04:05.006Z"),
    sent: new Date("2026-01-02T03:04:05.000Z"),
  });
  expect(received[1]).not.toHaveProperty("created");
});

test.each<[form: string, content: unknown, expected: object]>([
  ["text", { text: "<b>", redact: true }, { text: "<b>", redact: true }],
  ["html", { html: "<b>", redact: false }, { html: "<b>", redact: false }],
  ["xml", { xml: "<b/>" }, { xml: "<b/>" }],
  ["json", { json: '{"title":"?"}' }, { json: '{"title":"?"}', content: { title: "?" } }],
  ["json that is a list", { json: "[1]" }, { json: "[1]" }],
  ["json that is none", { json: "{broken" }, { json: "{broken" }],
  ["text in v1", { type: "text/plain", value: "a" }, { text: "a" }],
  ["html in v1", { type: "text/html", value: "<b>" }, { html: "<b>" }],
  ["xml in v1", { type: "application/xml", value: "<b/>" }, { xml: "<b/>" }],
  ["json in v1", { type: "application/json", value: "{}" }, { json: "{}", content: {} }],
  ["json of a kind in v1", { type: "x/y+JSON", value: "[]" }, { json: "[]" }],
  ["another type in v1", { type: "text/markdown", value: "*" }, { text: "*" }],
  ["nothing", {}, {}],
])("content as %s", async (_, content, expected) => {
  const { deliver, received } = receiver();
  await deliver(bodyWith(message("1", "", { type: { value: "richMessage.listpicker" }, content })));
  const { text, html, json, xml, content: object, redact } = received[0] ?? {};
  expect({ text, html, json, xml, content: object, redact }).toEqual(expected);
});

test("entries that are no messages are dropped and reported, and the others arrive", async () => {
  const { deliver, received, errors } = receiver();
  const lost = message("2", "", { conversation: {} });
  expect((await deliver(bodyWith(null, 5, {}, lost, message("1")))).status).toBe(202);
  expect(received.map(({ id }) => id)).toEqual(["1"]);
  expect(errors).toMatchObject([
    { code: "BAD_RESPONSE", message: expect.stringContaining("Could not read 4 messages") },
  ]);
  await deliver(bodyWith(null));
  expect(errors[1]).toMatchObject({
    message: expect.stringContaining("Could not read 1 message "),
  });
});

test.each([
  ["no JSON", "<xml/>"],
  ["nothing", ""],
  ["a list", "[]"],
  ["no messages", "{}"],
  ["messages that are no list", '{"messages":{"message":{}}}'],
])("a body with %s gets a 400, and is reported", async (_, body) => {
  const { deliver, errors } = receiver();
  expect((await deliver(body)).status).toBe(400);
  expect(errors).toMatchObject([{ code: "BAD_RESPONSE" }]);
  // Without credentials anybody can send it.
  expect((await deliver(body, null)).status).toBe(401);
  expect(errors).toHaveLength(1);
});

test.each([
  ["Latin-1", Buffer.from(JSON.stringify(bodyWith(message("1", "é"))), "latin1")],
  ["gzip", gzipSync(JSON.stringify(bodyWith(message("1"))))],
])("a body in %s is not guessed: its 400 says what is read", async (_, body) => {
  const { handler, received } = receiver();
  const response = await ask(handler, Readable.from([body]));
  await handler.idle();
  expect(received).toEqual([]);
  expect(response.status).toBe(400);
  expect(await response.text()).toContain("in uncompressed UTF-8");
});

test.each(["GET", "PUT", "DELETE", "HEAD"])("%s gets a 405", async (method) => {
  const response = await ask(receiver().handler, "", { authorization: right }, method);
  expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
});

test("a message that comes again is taken once", async () => {
  const { deliver, received } = receiver();
  await deliver(bodyWith(message("1"), message("2"), message("1")));
  await deliver(bodyWith(message("2"), message("3")));
  expect(received.map(({ id }) => id)).toEqual(["1", "2", "3"]);
});

test("the last 10,000 messages are remembered, and no more", async () => {
  const memory = createProcessMemory(undefined, systemClock, () => undefined);
  for (let n = 0; n <= 10_000; n++) {
    await memory.take(`${n}`);
    await memory.settle(`${n}`, "done");
  }
  expect([await memory.take("1"), await memory.take("0")]).toEqual(["done", "new"]);
});

test("without the service's id the sender's own shows a repeat, within its conversation", async () => {
  const { deliver, received } = receiver();
  const own = (conversation: string) =>
    message("", conversation, {
      id: undefined,
      messageId: "m-1",
      conversation: { id: conversation },
    });
  await deliver(bodyWith(own("a"), own("b"), own("a")));
  const none = message("", "x", { id: undefined });
  await deliver(bodyWith(none, none));
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
  const response = await call(handler, message("a1"), message("a2"), other);
  expect([response.status, log]).toEqual([202, []]);
  await nextTurn();
  await nextTurn();
  expect(log).toEqual(["begin a1", "begin b1"]);
  gates.get("a1")?.();
  await nextTurn();
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

test("what the program fails with is reported with its message, and the next one goes on", async () => {
  const reported: unknown[] = [];
  const { deliver } = receiver({
    onMessage: async ({ id }) => {
      if (id === "1") throw new Error("first");
      reported.push(id);
    },
    onError: (error, about) => {
      reported.push([error instanceof Error && error.message, about?.id]);
      throw new Error("even so");
    },
  });
  expect((await deliver(bodyWith(message("1"), message("2")))).status).toBe(202);
  expect(reported).toEqual([["first", "1"], "2"]);
});

/** Messages of which none is ever done, in one call. */
const manyIn = (conversation: string, count: number) =>
  Array.from({ length: count }, (_, n) => inConversation(conversation, `${conversation}-${n}`));

test("a conversation that is stuck is put off at 1,000 messages, and holds up no other", async () => {
  const taken: string[] = [];
  const { handler } = receiver({
    onMessage: ({ conversationId, id = "" }) => {
      taken.push(id);
      return conversationId === "stuck" ? never() : undefined;
    },
  });
  expect((await call(handler, ...manyIn("stuck", 1_000))).status).toBe(202);
  const putOff = await call(handler, inConversation("stuck", "x"), inConversation("free", "y"));
  expect([putOff.status, putOff.headers.get("retry-after")]).toEqual([503, "1"]);
  expect((await call(handler, inConversation("free", "a"))).status).toBe(202);
  await progressed();
  expect(taken).toEqual(["stuck-0", "a"]);
});

test("with 10,000 messages waiting, every call is put off", async () => {
  const { handler } = receiver({ onMessage: never });
  for (const id of "abcdefghij") await call(handler, ...manyIn(id, 1_000));
  expect((await call(handler, inConversation("k", "k"))).status).toBe(503);
});

test("an error handler that never comes back does not hold up the conversation", async () => {
  const clock = new ManualClock();
  const taken: string[] = [];
  const { handler } = receiver({
    clock,
    messageTimeoutMs: 1_000,
    onError: never,
    onMessage: ({ id = "" }) => {
      taken.push(id);
      if (id === "1") throw new Error("work");
    },
  });
  await call(handler, message("1"), message("2"));
  await progressed();
  expect(taken).toEqual(["1"]);
  clock.advance(1_000);
  await handler.idle();
  expect(taken).toEqual(["1", "2"]);
});

test("a message that takes too long is reported, its signal ends, and the conversation goes on", async () => {
  const clock = new ManualClock();
  const taken: string[] = [];
  const reasons: unknown[] = [];
  const { handler, errors } = receiver({
    clock,
    messageTimeoutMs: 1_000,
    onMessage: ({ id = "" }, { signal }) => {
      taken.push(id);
      if (id !== "1") return;
      signal.addEventListener("abort", () => reasons.push(signal.reason));
      return never();
    },
  });
  await call(handler, message("1"), message("2"));
  await progressed();
  expect(taken).toEqual(["1"]);
  clock.advance(1_000);
  await handler.idle();
  expect(taken).toEqual(["1", "2"]);
  expect(errors).toMatchObject([{ code: "TIMED_OUT" }]);
  expect(reasons).toEqual(errors);
});

test("nothing waits any longer for work that is done", async () => {
  const clock = new ManualClock();
  const { deliver } = receiver({ clock, memory: memoryThat({}) });
  expect((await deliver(bodyWith(message("1")))).status).toBe(202);
  await progressed();
  expect(clock.sleeping).toBe(0);
});

test("the default limit is 5 minutes", async () => {
  const clock = new ManualClock();
  const { handler, errors } = receiver({ clock, onMessage: never });
  await call(handler, message("1"));
  await progressed();
  clock.advance(299_999);
  await progressed();
  expect(errors).toEqual([]);
  clock.advance(1);
  await handler.idle();
  expect(errors).toMatchObject([{ code: "TIMED_OUT" }]);
});

test.each(["before", "after"] as const)(
  "a message whose work failed is worked on when it comes again, acknowledged %s",
  async (acknowledge) => {
    let calls = 0;
    const { deliver, errors } = receiver({
      acknowledge,
      onMessage: () => {
        calls += 1;
        if (calls < 3) throw new Error("not yet");
      },
    });
    const statuses: number[] = [];
    for (const _ of [1, 2, 3, 4]) statuses.push((await deliver(bodyWith(message("1")))).status);
    expect([calls, errors.length]).toEqual([3, 2]);
    expect(statuses).toEqual(acknowledge === "after" ? [500, 500, 202, 202] : [202, 202, 202, 202]);
  },
);

test("acknowledged after: the answer waits for the work of all messages of the call", async () => {
  const gates: (() => void)[] = [];
  const { handler } = receiver({
    acknowledge: "after",
    onMessage: () => new Promise<void>((resolve) => gates.push(resolve)),
  });
  let answered: number | undefined;
  const answer = call(handler, inConversation("a", "1"), inConversation("b", "2")).then(
    ({ status }) => {
      answered = status;
    },
  );
  await progressed();
  gates[0]?.();
  await progressed();
  expect(answered).toBeUndefined();
  gates[1]?.();
  await answer;
  expect(answered).toBe(202);
});

test("acknowledged after: work that takes too long answers 503, and is not begun again", async () => {
  const clock = new ManualClock();
  let begun = 0;
  const finished = Promise.withResolvers<void>();
  const { handler } = receiver({
    clock,
    acknowledge: "after",
    onMessage: () => {
      begun += 1;
      return finished.promise;
    },
  });
  for (const _ of [1, 2]) {
    const late = call(handler, message("1"));
    await progressed();
    clock.advance(4_000);
    const { status, headers } = await late;
    expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
  }
  const last = call(handler, message("1"));
  await progressed();
  finished.resolve();
  expect([(await last).status, begun]).toEqual([202, 1]);
  expect((await call(handler, message("1"))).status).toBe(202);
  expect(begun).toBe(1);
});

const memoryThat = (changes: Partial<MessageMemory>): MessageMemory => ({
  take: async () => "new",
  settle: async () => {},
  ...changes,
});

test.each([
  ["before", 202],
  ["after", 503],
] as const)(
  "what another process is at work on is left to it, acknowledged %s",
  async (acknowledge, status) => {
    const { deliver, received } = receiver({
      acknowledge,
      memory: memoryThat({ take: async () => "taken" }),
    });
    expect((await deliver(bodyWith(message("1")))).status).toBe(status);
    expect(received).toEqual([]);
  },
);

test("what another process gave back is taken when it comes again", async () => {
  const states = ["taken", "new"] as const;
  let asked = 0;
  const { deliver, received } = receiver({
    acknowledge: "after",
    memory: memoryThat({ take: async () => states[asked++] ?? "taken" }),
  });
  const statuses: number[] = [];
  for (const _ of [1, 2, 3]) statuses.push((await deliver(bodyWith(message("1")))).status);
  expect([statuses, received.length, asked]).toEqual([[503, 202, 202], 1, 2]);
});

test("an answer of the memory that means nothing loses no message", async () => {
  const { deliver, received } = receiver({
    // @ts-expect-error as a program without type checks would write it
    memory: memoryThat({ take: async () => "busy" }),
  });
  await deliver(bodyWith(message("1")));
  expect(received).toHaveLength(1);
});

test("while a shared memory fails, the process remembers by itself, and says so", async () => {
  const broken = () => Promise.reject(new Error("no connection"));
  const { deliver, received, errors } = receiver({
    memory: memoryThat({ take: broken, settle: broken }),
  });
  await deliver(bodyWith(message("1")));
  await deliver(bodyWith(message("1")));
  expect(received).toHaveLength(1);
  expect(errors).toMatchObject([{ message: "no connection" }]);
});

test("each time that a shared memory begins to fail is reported", async () => {
  const works = [false, false, true, false];
  const { deliver, errors } = receiver({
    memory: memoryThat({
      take: async () => {
        if (works.shift()) return "done";
        throw new Error("no connection");
      },
      settle: () => Promise.reject(new Error("no connection")),
    }),
  });
  for (const id of ["1", "2", "3", "4"]) await deliver(bodyWith(message(id)));
  expect(errors).toHaveLength(2);
});

test("a memory that does not answer holds up nobody for longer than two seconds", async () => {
  const clock = new ManualClock();
  const { handler, received } = receiver({
    clock,
    memory: memoryThat({ take: () => new Promise(() => {}) }),
  });
  await call(handler, message("1"));
  await progressed();
  clock.advance(2_000);
  await handler.idle();
  expect(received).toHaveLength(1);
});

const authenticate = { basic: { username: "hub", password: "secret" } };

test("an app hands each message to the first handler for it", async () => {
  const log: string[] = [];
  const note =
    (name: string) =>
    ({ id }: { id?: string }) =>
      void log.push(`${name} ${id}`);
  const app = conversationApp({ authenticate })
    .on("customer", "text", note("customer"))
    .on("text", note("anybody"))
    .on(["typing.start", "typing.end"], note("typing"))
    .on(["custom.order", "status.read"], note("others"))
    .otherwise(note("otherwise"));
  const agent = { sender: { type: "custom_agent" } };
  await call(
    app,
    message("1"),
    message("2", "", agent),
    message("3", "", { type: { value: "typing.end" } }),
    message("4", "", { type: { value: "error" } }),
    ...["custom.order", "status.read", "text.loud", "custom.other"].map((value) =>
      message(value, "", { type: { value } }),
    ),
  );
  await app.idle();
  expect(log.slice(0, 4)).toEqual(["customer 1", "anybody 2", "typing 3", "otherwise 4"]);
  expect(log.slice(4)).toEqual([
    ...["others custom.order", "others status.read"],
    ...["otherwise text.loud", "otherwise custom.other"],
  ]);
});

test("an app without a handler for a message discards it; a handler that fails is reported", async () => {
  const errors: unknown[] = [];
  const app = conversationApp({ authenticate, onError: (error) => void errors.push(error) }).on(
    "text",
    () => Promise.reject(new Error("first")),
  );
  const typing = message("2", "", { type: { value: "typing.end" } });
  expect((await call(app, message("1"), typing)).status).toBe(202);
  await app.idle();
  expect(errors).toMatchObject([{ message: "first" }]);
});

test.each<[string, unknown[]]>([
  ["type", ["text.loud", () => {}]],
  ["type", [[], () => {}]],
  ["sender", ["system", "text", () => {}]],
  ["handler", ["text", "no function"]],
  ["handler", ["text"]],
])("an app refuses a wrong %s", (name, given) => {
  const app = conversationApp({ authenticate });
  expect(() => Reflect.apply(app.on, app, given)).toThrow(
    expect.objectContaining({ code: "INPUT_INVALID", message: expect.stringContaining(name) }),
  );
});
