import fc from "fast-check";
import { expect, test } from "vitest";
import { redisMemory } from "../../sdk/runtime/index.js";
import type { MessageMemory, Taken } from "../../sdk/runtime/message-memory.js";
import { startRedis } from "../pacing/support/redis-server.js";
import { message, receiver, v3 } from "./support/callback-calls.js";

const runs = Number(process.env.FUZZ_RUNS ?? 400);

/** A memory that is shared, and fails whenever it is away. */
class AbsentMemory implements MessageMemory {
  isAway = false;
  readonly #known = new Map<string, Taken>();

  #change<T>(change: () => T): Promise<T> {
    return this.isAway ? Promise.reject(new Error("no connection")) : Promise.resolve(change());
  }

  take(key: string): Promise<Taken> {
    return this.#change(() => {
      const state = this.#known.get(key) ?? "new";
      if (state === "new") this.#known.set(key, "taken");
      return state;
    });
  }

  done(key: string): Promise<void> {
    return this.#change(() => void this.#known.set(key, "done"));
  }

  release(key: string): Promise<void> {
    return this.#change(() => void this.#known.delete(key));
  }
}

const delivery = fc.record({
  id: fc.constantFrom("1", "2", "3"),
  works: fc.boolean(),
  isAwayBefore: fc.boolean(),
  isAwayAfter: fc.boolean(),
});

test("whenever the memory goes and comes, a message is worked on until that succeeds, and never again", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(delivery, { minLength: 1, maxLength: 12 }), async (deliveries) => {
      const memory = new AbsentMemory();
      const done = new Set<string>();
      let begun = 0;
      let next = deliveries[0];
      const { deliver } = receiver({
        memory,
        acknowledge: "after",
        onMessage: () => {
          begun += 1;
          memory.isAway = next?.isAwayAfter === true;
          if (!next?.works) throw new Error("work");
        },
      });
      for (next of deliveries) {
        const { id, works, isAwayBefore } = next;
        memory.isAway = isAwayBefore;
        const before = begun;
        const { status } = await deliver(v3(message(id)));
        const isNew = !done.has(id);
        expect([status, begun - before]).toEqual([isNew && !works ? 500 : 200, isNew ? 1 : 0]);
        if (works) done.add(id);
      }
    }),
    { numRuns: runs, seed: 11 },
  );
});

test("a Redis that dies while a message is worked on, and comes back empty, repeats nothing", async () => {
  const first = await startRedis();
  await using memory = redisMemory({ url: first.url, name: "bot" });
  let begun = 0;
  const { deliver } = receiver({
    memory,
    acknowledge: "after",
    onMessage: async () => {
      begun += 1;
      await first.stop();
    },
  });
  expect((await deliver(v3(message("1")))).status).toBe(200);
  expect((await deliver(v3(message("1")))).status).toBe(200);
  const second = await startRedis(first.port);
  try {
    expect((await deliver(v3(message("1")))).status).toBe(200);
    expect(begun).toBe(1);
  } finally {
    await second.stop();
  }
});
