import { expect, test } from "vitest";
import {
  type CallbackOptions,
  conversationApp,
  type MessageMemory,
} from "../../sdk/runtime/index.js";
import { ManualClock, settled } from "../service/support/clocks.js";
import { message, type Receiver, receiver, right, v3 } from "./support/callback-calls.js";

const call = (handler: Receiver["handler"], ...messages: unknown[]): Promise<Response> =>
  handler.fetch(
    new Request("http://x.example/", {
      method: "POST",
      headers: { authorization: right },
      body: JSON.stringify(v3(...messages)),
    }),
  );

const inConversation = (conversation: string, id: string) =>
  message(id, id, { conversation: { id: conversation } });

const never = () => new Promise<void>(() => {});

/** Lets what was begun go as far as it can. */
const progressed = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await settled();
};

test("one conversation that is stuck is put off, and holds up no other", async () => {
  const taken: string[] = [];
  const { handler } = receiver({
    maxWaiting: 5,
    onMessage: ({ conversationId, id = "" }) => {
      taken.push(id);
      return conversationId === "stuck" ? never() : undefined;
    },
  });
  const stuck = Array.from({ length: 8 }, (_, n) => inConversation("stuck", `s-${n}`));
  const statuses: number[] = [];
  for (const each of stuck) statuses.push((await call(handler, each)).status);
  expect(statuses).toEqual([200, 200, 200, 200, 200, 503, 503, 503]);
  for (const id of ["a", "b", "c"]) {
    expect((await call(handler, inConversation(id, id))).status).toBe(200);
    await progressed();
  }
  expect(taken).toEqual(["s-0", "a", "b", "c"]);
});

test("a conversation has a limit of its own", async () => {
  const { handler } = receiver({ maxWaitingPerConversation: 2, onMessage: never });
  const statuses: number[] = [];
  for (const [conversation, id] of [
    ["a", "1"],
    ["a", "2"],
    ["a", "3"],
    ["b", "4"],
  ] as const) {
    statuses.push((await call(handler, inConversation(conversation, id))).status);
  }
  expect(statuses).toEqual([200, 200, 503, 200]);
});

test("of one call for two conversations, the one that is not full goes on, once", async () => {
  const taken: string[] = [];
  const { handler } = receiver({
    maxWaitingPerConversation: 1,
    onMessage: ({ id = "", conversationId }) => {
      taken.push(id);
      return conversationId === "stuck" ? never() : undefined;
    },
  });
  await call(handler, inConversation("stuck", "s-1"));
  const both = [inConversation("stuck", "s-2"), inConversation("free", "f-1")];
  for (const _ of [1, 2]) {
    expect((await call(handler, ...both)).status).toBe(503);
    await progressed();
  }
  expect(taken).toEqual(["s-1", "f-1"]);
});

test("in all, twice the limit is the end", async () => {
  const { handler } = receiver({ maxWaiting: 2, onMessage: never });
  const statuses: number[] = [];
  for (const id of ["a", "b", "c", "d", "e"]) {
    statuses.push((await call(handler, inConversation(id, id))).status);
  }
  expect(statuses).toEqual([200, 200, 200, 200, 503]);
});

test("a message that takes too long is told, its signal ends, and the conversation goes on", async () => {
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
    for (const _ of [1, 2, 3, 4]) statuses.push((await deliver(v3(message("1")))).status);
    expect([calls, errors.length]).toEqual([3, 2]);
    expect(statuses).toEqual(acknowledge === "after" ? [500, 500, 200, 200] : [200, 200, 200, 200]);
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
  expect(answered).toBe(200);
});

test("acknowledged after: work that takes too long answers 503, and is not begun again", async () => {
  const clock = new ManualClock();
  let begun = 0;
  let finish: () => void = () => {};
  const { handler } = receiver({
    clock,
    acknowledge: "after",
    onMessage: () => {
      begun += 1;
      return new Promise<void>((resolve) => {
        finish = resolve;
      });
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
  finish();
  expect([(await last).status, begun]).toEqual([200, 1]);
  expect((await call(handler, message("1"))).status).toBe(200);
  expect(begun).toBe(1);
});

test("acknowledged after: what is not wanted, and what came before, is fine at once", async () => {
  const { deliver, received } = receiver({ acknowledge: "after", accepts: ["text"] });
  const typing = message("2", "", { type: { value: "typing.start" } });
  const statuses: number[] = [];
  for (const _ of [1, 2]) statuses.push((await deliver(v3(message("1"), typing))).status);
  expect([statuses, received.length]).toEqual([[200, 200], 1]);
});

const memoryThat = (changes: Partial<MessageMemory>): MessageMemory => ({
  take: async () => "new",
  done: async () => {},
  release: async () => {},
  ...changes,
});

test.each([
  ["before", 200],
  ["after", 503],
] as const)(
  "what another process is at work on is left to it, acknowledged %s",
  async (acknowledge, status) => {
    const { deliver, received } = receiver({
      acknowledge,
      memory: memoryThat({ take: async () => "taken" }),
    });
    expect((await deliver(v3(message("1")))).status).toBe(status);
    expect(received).toEqual([]);
  },
);

test("while a shared memory fails, the process remembers by itself, and says so", async () => {
  const broken = () => Promise.reject(new Error("no connection"));
  const { deliver, received, errors } = receiver({
    memory: memoryThat({ take: broken, done: broken, release: broken }),
  });
  await deliver(v3(message("1")));
  await deliver(v3(message("1")));
  expect(received).toHaveLength(1);
  expect(errors).toMatchObject([{}, {}, {}].map(() => ({ message: "no connection" })));
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

const { authenticate }: Pick<CallbackOptions, "authenticate"> = {
  authenticate: { basic: { username: "hub", password: "secret" } },
};

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
    .otherwise(note("otherwise"));
  const agent = { sender: { type: "custom_agent" } };
  await call(
    app,
    message("1"),
    message("2", "", agent),
    message("3", "", { type: { value: "typing.end" } }),
    message("4", "", { type: { value: "error" } }),
  );
  await app.idle();
  expect(log).toEqual(["customer 1", "anybody 2", "typing 3", "otherwise 4"]);
});

test("an app without a handler for a message discards it; a handler that fails is told", async () => {
  const errors: unknown[] = [];
  const app = conversationApp({ authenticate, onError: (error) => void errors.push(error) }).on(
    "text",
    () => Promise.reject(new Error("first")),
  );
  const typing = message("2", "", { type: { value: "typing.end" } });
  expect((await call(app, message("1"), typing)).status).toBe(200);
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

test("content has the type that its message type says; what has another one is missing", async () => {
  const { deliver, received } = receiver();
  const list = { sections: [{ title: "Open", items: [{ id: 7, title: "Shoes" }, { id: "8" }] }] };
  const picker = { type: { value: "richMessage.listpicker" } };
  await deliver(
    v3(
      message("1", "", {
        ...picker,
        content: { title: 5, version: "1", list, more: { kept: true } },
      }),
      message("2", "", { content: { text: 5, redact: true } }),
      message("3", "", { type: { value: "richMessage.form" }, content: { any: 1 } }),
    ),
  );
  expect(received.map(({ content }) => content)).toEqual([
    {
      version: "1",
      list: { sections: [{ title: "Open", items: [{ title: "Shoes" }, { id: "8" }] }] },
      more: { kept: true },
    },
    { redact: true },
    { any: 1 },
  ]);
  expect(received[0]?.raw).toMatchObject({ content: { title: 5 } });
});
