import { expect, test } from "vitest";
import type { MessageMemory } from "../../sdk/runtime/index.js";
import { ManualClock } from "../service/support/clocks.js";
import { message, receiver, v3 } from "./support/callback-calls.js";
import { call, inConversation, progressed } from "./support/callback-turns.js";

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
