import { expect, test } from "vitest";
import { ManualClock } from "../service/support/clocks.js";
import { message, receiver, right, v3 } from "./support/callback-calls.js";
import { call, inConversation, never, progressed } from "./support/callback-turns.js";

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

test("a body of the fetch standard that does not come to its end is left with the answer", async () => {
  const clock = new ManualClock();
  const { handler, received } = receiver({ clock });
  let left = false;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      // All of a message, and then nothing, not even the end.
      controller.enqueue(new TextEncoder().encode(JSON.stringify(v3(message("1")))));
    },
    cancel: () => {
      left = true;
    },
  });
  const init = { method: "POST", headers: { authorization: right }, body, duplex: "half" } as const;
  const answer = handler.fetch(new Request("http://bot.example.com/", init));
  await progressed();
  expect(left).toBe(false);
  clock.advance(4_000);
  expect((await answer).status).toBe(408);
  await progressed();
  expect(left).toBe(true);
  await handler.idle();
  expect(received).toEqual([]);
});
