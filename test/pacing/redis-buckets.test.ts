import { expect, test } from "vitest";
import { withLocalBuckets } from "../../provider/pacing/local-fallback.js";
import { memoryBuckets } from "../../provider/pacing/memory-buckets.js";
import { redisBuckets } from "../../provider/pacing/redis-buckets.js";
import { connectRedis, type RedisClient } from "../../provider/pacing/redis-client.js";

const rules = { periodMs: 1000, capacity: 3, marginMs: 0 };

/** A Redis that answers every script alike, and knows a script only after it was sent in full. */
const fakeRedis = (answer: unknown) => {
  const sent: string[] = [];
  let known = false;
  const client: RedisClient = {
    connect: async () => {},
    evalsha: async () => {
      sent.push("evalsha");
      if (!known) throw new Error("NOSCRIPT No matching script.");
      return answer;
    },
    eval: async (_script, _keys, key) => {
      sent.push(`eval ${key}`);
      known = true;
      return answer;
    },
    on: () => {},
    disconnect: () => void sent.push("disconnect"),
  };
  return { sent, connect: async () => client };
};

test("a script is sent in full only where Redis does not know it", async () => {
  const { sent, connect } = fakeRedis(["12.5", "0.25", "4 0 1 0"]);
  const state = redisBuckets("redis://localhost", connect);
  const lesson = { spike: 4, single: false, searched: true, settled: false };
  expect(await state.take("k", rules)).toEqual({ waitMs: 12.5, tokens: 0.25, lesson });
  await state.take("k", rules);
  await state.close();
  expect(sent).toEqual(["evalsha", "eval conversation:k", "evalsha", "disconnect"]);
});

test.each([["text"], [[]], [["soon", "0", ""]], [null]])(
  "an answer that cannot be read (%j) is a failure",
  async (answer) => {
    const state = redisBuckets("redis://localhost", fakeRedis(answer).connect);
    await expect(state.take("k", rules)).rejects.toThrow("cannot be read");
  },
);

test("a missing package is named with what to do, without the address", async () => {
  const missing = async () => {
    throw new Error("Cannot find package 'ioredis'");
  };
  const connecting = connectRedis("redis://:hunter2@localhost", missing);
  await expect(connecting).rejects.toMatchObject({
    code: "SETTINGS_INVALID",
    message: expect.stringMatching(/redisUrl.*npm install ioredis/),
  });
  await expect(connecting).rejects.not.toThrow("hunter2");
});

test("a package of the wrong shape is named too", async () => {
  await expect(connectRedis("redis://localhost", async () => ({}))).rejects.toThrow("version 5");
});

test("while the shared buckets fail, local ones go on at part of the rate, said once", async () => {
  let [now, down] = [0, true];
  let asked = 0;
  const lost: unknown[] = [];
  const failing = async () => {
    asked += 1;
    if (down) throw new Error("down");
    return { waitMs: 7, tokens: 1 };
  };
  const state = withLocalBuckets(
    { take: failing, hold: async () => {}, learn: async () => {}, close: async () => {} },
    {
      local: memoryBuckets(() => now),
      share: 0.5,
      now: () => now,
      againMs: 1000,
      onLost: (error) => lost.push(error),
    },
  );
  expect(await state.take("k", rules)).toMatchObject({ waitMs: 2000 });
  await state.take("k", rules);
  expect(asked).toBe(1);
  now = 1000;
  await state.take("k", rules);
  expect(asked).toBe(2);
  [now, down] = [2000, false];
  expect(await state.take("k", rules)).toMatchObject({ waitMs: 7 });
  expect(lost).toHaveLength(1);
});
