import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createServer } from "node:tls";
import { expect, onTestFinished, test, vi } from "vitest";
import {
  type BucketStore,
  memoryBuckets,
  withLocalBuckets,
} from "../../provider/pacing/bucket-store.js";
import { connectRedis, redisBuckets, redisNeed } from "../../provider/pacing/redis-buckets.js";
import { closeServer, listenHere } from "../support/loopback-server.js";
import { FakeRedis } from "./support/fake-redis.js";

const pemOf = (name: string): string =>
  readFileSync(join(__dirname, "support", `${name}.pem`), "utf8");

/** A certificate that nobody trusts, and its key. */
const ownTls = { cert: pemOf("certificate"), key: pemOf("key") };

const found = (store: BucketStore) => store.change("k", (state) => ({ state, result: state }));

const written = (store: BucketStore, value: string) =>
  store.change("k", (before, now) => ({ state: { at: now, value }, result: before }));

test("the script is sent in full only where Redis does not know it", async () => {
  const redis = new FakeRedis(() => 12.5);
  const store = redisBuckets("redis://localhost", redis.connect);
  await written(store, "first");
  expect(await found(store)).toEqual({ at: 12.5, value: "first" });
  await store.close();
  expect(redis.sent).toEqual(["evalsha", "eval", "evalsha", "evalsha", "disconnect"]);
  expect([...redis.kept.keys()]).toEqual(["conversation:k"]);
});

test("what another process wrote in between is taken into account", async () => {
  const redis = new FakeRedis(() => 0);
  const store = redisBuckets("redis://localhost", redis.connect);
  const seen: unknown[] = [];
  await store.change("k", (before, now) => {
    if (seen.length === 0) redis.kept.set("conversation:k", JSON.stringify({ at: 7 }));
    seen.push(before);
    return { state: { at: now, value: "mine" }, result: undefined };
  });
  expect(seen).toEqual([undefined, { at: 7 }]);
  expect(await found(store)).toEqual({ at: 0, value: "mine" });
});

test("what Redis keeps and nobody can read is written anew", async () => {
  const redis = new FakeRedis(() => 0);
  redis.kept.set("conversation:k", "4 0 1 0");
  const store = redisBuckets("redis://localhost", redis.connect);
  expect(await written(store, "mine")).toBeUndefined();
  expect(await found(store)).toEqual({ at: 0, value: "mine" });
});

test.each([["text"], [[]], [["1", "soon", ""]], [["1", "", ""]], [["1", "5"]], [null]])(
  "an answer that cannot be read (%j) is a failure",
  async (answer) => {
    const redis = new FakeRedis(() => 0, answer);
    const store = redisBuckets("redis://localhost", redis.connect);
    await expect(found(store)).rejects.toThrow("unreadable reply");
  },
);

test("a missing package is named with what to do, without the address", async () => {
  const missing = async () => {
    throw new Error("Cannot find package 'ioredis'");
  };
  const connecting = connectRedis("redis://:hunter2@localhost", redisNeed(), missing);
  await expect(connecting).rejects.toMatchObject({
    code: "SETTINGS_INVALID",
    message: expect.stringMatching(/redisUrl.*npm install ioredis/),
  });
  await expect(connecting).rejects.not.toThrow("hunter2");
});

test("a package of the wrong shape is named too", async () => {
  await expect(connectRedis("redis://localhost", redisNeed(), async () => ({}))).rejects.toThrow(
    "version 5",
  );
});

test("while the shared buckets fail, local ones go on at part of the rate, said once", async () => {
  let [now, down] = [0, true];
  let asked = 0;
  const lost: unknown[] = [];
  const failing: BucketStore = {
    change: async (_key, change) => {
      asked += 1;
      if (down) throw new Error("down");
      return change(undefined, now, 1).result;
    },
    close: async () => {},
  };
  const store = withLocalBuckets(failing, {
    local: memoryBuckets(() => now),
    share: 0.5,
    now: () => now,
    againMs: 1000,
    onLost: (error) => lost.push(error),
  });
  const share = () =>
    store.change("k", (_state, _now, part) => ({ state: { at: 1 }, result: part }));
  expect(await share()).toBe(0.5);
  await share();
  expect(asked).toBe(1);
  now = 1000;
  await share();
  expect(asked).toBe(2);
  [now, down] = [2000, false];
  expect(await share()).toBe(1);
  expect(lost).toHaveLength(1);
});

test("no variable turns the check of the server's certificate off", async () => {
  const received: string[] = [];
  const server = createServer(ownTls, (socket) => {
    socket.on("error", () => {});
    socket.once("data", (piece) => {
      received.push(String(piece));
      socket.destroy();
    });
  });
  const { port } = new URL(await listenHere(server));
  onTestFinished(() => closeServer(server));
  vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
  onTestFinished(() => void vi.unstubAllEnvs());
  const client = await connectRedis(`rediss://:hunter2@localhost:${port}`, redisNeed());
  client.disconnect();
  expect(received).toEqual([]);
});
