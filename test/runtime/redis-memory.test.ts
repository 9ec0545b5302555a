import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../provider/kernel/clock.js";
import { sharedBuckets } from "../../provider/pacing/pacer.js";
import { type RedisMemory, redisMemory } from "../../sdk/runtime/index.js";
import type { MessageMemory, Taken } from "../../sdk/runtime/message-memory.js";
import { type RedisServer, startRedis } from "../pacing/support/redis-server.js";
import { bodyWith, message, receiver } from "./support/callback-calls.js";

let server: RedisServer;
const open: RedisMemory[] = [];

beforeAll(async () => {
  server = await startRedis();
});

afterAll(async () => {
  for (const memory of open) await memory.close();
  await server.stop();
});

/** As one more process would have it. */
const memoryOf = (name: string, rememberMs = 60_000): RedisMemory => {
  const memory = redisMemory({ url: server.url, name, rememberMs });
  open.push(memory);
  return memory;
};

test("a message belongs to the one who takes it first, until it is done", async () => {
  const [one, other] = [memoryOf("first"), memoryOf("first")];
  expect(await one.take("k")).toBe("new");
  expect(await other.take("k")).toBe("taken");
  await one.settle("k", "done");
  expect(await other.take("k")).toBe("done");
});

test("a message that is given back is new; only its owner can give it back", async () => {
  const [one, other] = [memoryOf("back"), memoryOf("back")];
  await one.take("k");
  await other.settle("k", "new");
  expect(await other.take("k")).toBe("taken");
  await one.settle("k", "new");
  expect(await other.take("k")).toBe("new");
});

test("a claim lasts while its process lives, and what was done is forgotten in time", async () => {
  const [one, other, killed] = [memoryOf("a", 1), memoryOf("a", 1), memoryOf("a", 1)];
  await one.take("long");
  await killed.take("k");
  await killed.close();
  await expect.poll(() => other.take("k")).toBe("new");
  expect(await other.take("long")).toBe("taken");
  await one.settle("long", "done");
  await expect.poll(() => other.take("long")).toBe("new");
});

test("callbacks of several participants do not take each other's messages", async () => {
  expect(await memoryOf("bot").take("k")).toBe("new");
  expect(await memoryOf("agent").take("k")).toBe("new");
});

test("many processes that get a message at once work on it once", async () => {
  const processes = Array.from({ length: 8 }, () =>
    receiver({ acknowledge: "after", memory: memoryOf("crowd") }),
  );
  const messages = Array.from({ length: 20 }, (_, n) => message(`m-${n}`));
  await Promise.all(processes.map(({ deliver }) => deliver(bodyWith(...messages))));
  const ids = processes.flatMap(({ received }) => received.map(({ id }) => id));
  expect(ids.sort()).toEqual(messages.map(({ id }) => id).sort());
});

test("where no Redis is, messages are worked on all the same, and the reason is reported once", async () => {
  const memory = redisMemory({ url: "redis://127.0.0.1:1", name: "bot" });
  open.push(memory);
  const { deliver, received, errors } = receiver({ memory });
  for (const id of ["1", "2"]) await deliver(bodyWith(message(id)));
  expect(received).toHaveLength(2);
  const line =
    "Redis at 127.0.0.1:1 is not reachable. Until this is fixed, a message that reaches two processes may be handled twice.";
  expect(errors).toEqual([expect.objectContaining({ code: "UNREACHABLE", message: line })]);
});

test.each([
  ["--maxmemory 1", "", "OOM command not allowed when used memory > 'maxmemory'"],
  [
    "--requirepass s3cret",
    ":s3cres@",
    "WRONGPASS invalid username-password pair or user is disabled",
  ],
  ["--requirepass s3 --rename-command AUTH no", ":s3@", "ERR unknown command 'auth'"],
])(
  "a Redis that refuses (%s) is quoted, but never the password of its URL",
  async (settings, login, said) => {
    const refusing = await startRedis(undefined, ...settings.split(" "));
    const url = refusing.url.replace("//", `//${login}`);
    await using memory = redisMemory({ url, name: "bot" });
    const { deliver, received, errors } = receiver({ memory });
    const notices: string[] = [];
    const buckets = sharedBuckets({
      clock: systemClock,
      redisUrl: url,
      onNotice: (text) => notices.push(text),
    });
    try {
      await deliver(bodyWith(message("1")));
      await buckets.change("k", () => ({ at: 1, dueMs: 0 }));
    } finally {
      await buckets.close();
      await refusing.stop();
    }
    expect(received).toHaveLength(1);
    const line = `Redis at 127.0.0.1:${refusing.port} refused the call (${said}). Until this is fixed, a message that reaches two processes may be handled twice.`;
    expect(errors).toEqual([expect.objectContaining({ code: "REJECTED", message: line })]);
    expect(notices).toEqual([
      `The rate limits are not shared with other processes for now: Redis refused it (${said}).`,
    ]);
  },
);

test.each<[string, object]>([
  ["url", { url: "http://localhost" }],
  ["name", { name: "" }],
  ["rememberMs", { rememberMs: 0.5 }],
])("a memory with a wrong %s is refused", (name, change) => {
  expect(() => redisMemory({ url: "redis://localhost", name: "bot", ...change })).toThrow(
    expect.objectContaining({ code: "INPUT_INVALID", message: expect.stringContaining(name) }),
  );
});

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

  settle(key: string, state: "done" | "new"): Promise<void> {
    return this.#change(() => {
      if (state === "done") this.#known.set(key, "done");
      else this.#known.delete(key);
    });
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
        const { status } = await deliver(bodyWith(message(id)));
        const isNew = !done.has(id);
        expect([status, begun - before]).toEqual([isNew && !works ? 500 : 202, isNew ? 1 : 0]);
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
  expect((await deliver(bodyWith(message("1")))).status).toBe(202);
  expect((await deliver(bodyWith(message("1")))).status).toBe(202);
  const second = await startRedis(first.port);
  try {
    expect((await deliver(bodyWith(message("1")))).status).toBe(202);
    expect(begun).toBe(1);
  } finally {
    await second.stop();
  }
});
