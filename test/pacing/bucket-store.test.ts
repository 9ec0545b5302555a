import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, describe, expect, test } from "vitest";
import {
  type BucketStore,
  bucketFilePath,
  fileBuckets,
  memoryBuckets,
} from "../../provider/pacing/bucket-store.js";
import { pacedCalls, sharedBuckets } from "../../provider/pacing/pacer.js";
import { connectRedis, redisBuckets } from "../../provider/pacing/redis-buckets.js";
import { JumpingClock } from "../service/support/clocks.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { startUntrustedServer } from "../support/untrusted-server.js";
import { FakeRedis } from "./support/fake-redis.js";

/** Adds one to the stored number; gives what was there before. */
const counted = async (store: BucketStore): Promise<number> => {
  let before = 0;
  await store.change("k", (kept, now) => {
    before = kept?.dueMs ?? 0;
    return { at: now, dueMs: before + 1 };
  });
  return before;
};

let folder = "";

beforeEach(() => {
  folder = temporaryFolder();
});

const path = () => join(folder, "pulumi-conversation", "buckets.sqlite");

const openers: Readonly<Record<string, () => () => BucketStore>> = {
  memory: () => {
    const store = memoryBuckets(new JumpingClock());
    return () => store;
  },
  file: () => () => fileBuckets(path(), () => 0),
  Redis: () => {
    const { connect } = new FakeRedis(() => 0);
    return () => redisBuckets("redis://localhost", connect);
  },
};

describe.each(Object.entries(openers))("in %s", (_, opener) => {
  test("changes of several processes at once are all counted", async () => {
    const open = opener();
    const stores = [open(), open(), open()];
    await Promise.all(stores.flatMap((store) => Array.from({ length: 20 }, () => counted(store))));
    expect(await counted(open())).toBe(60);
    await Promise.all(stores.map((store) => store.close()));
  });
});

/** Runs SQL on the file, as another process would. */
const onFile = (sql: string): void => {
  const file = new DatabaseSync(path());
  file.exec(sql);
  file.close();
};

test("a row that was not used for a week is removed", async () => {
  for (const [days, found] of [
    [6, 1],
    [8, 0],
  ] as const) {
    const before = fileBuckets(path());
    await counted(before);
    await before.close();
    onFile(`UPDATE limits SET used_at = used_at - ${days} * 24 * 3600`);
    const store = fileBuckets(path());
    expect(await counted(store)).toBe(found);
    await store.close();
  }
});

const endpoint = { method: "GET", template: "/channels" } as const;
const answer = async () => ({ status: 200, headers: {}, text: "" });

test("a clock that starts anew with the machine, behind what is stored, hardly delays a call", async () => {
  const secondsOf = async (calls: number, startMs: number) => {
    const clock = new JumpingClock();
    const store = fileBuckets(path(), () => startMs + clock.time);
    const pace = pacedCalls({ clock, tenant: "t", plan: "basic", share: 1, store });
    for (let n = 0; n < calls; n += 1) await pace(endpoint, answer);
    await store.close();
    return clock.time / 1000;
  };
  await secondsOf(3, 1_000_000);
  expect(await secondsOf(1, 10)).toBeLessThanOrEqual(2.1);
});

/** Before Node.js 24, rates are not shared by a file. */
const testFile = test.runIf(Number.parseInt(process.versions.node, 10) >= 24);

const shared = (notices: string[], clock = new JumpingClock()) =>
  sharedBuckets({
    clock,
    environment: { XDG_CACHE_HOME: folder },
    onNotice: (text) => notices.push(text),
  });

testFile(
  "a locked file is replaced by a local bucket, said once, and used again later",
  async () => {
    const notices: string[] = [];
    const clock = new JumpingClock();
    const store = shared(notices, clock);
    for (let times = 0; times < 5; times += 1) await counted(store);
    const other = new DatabaseSync(path());
    other.exec("BEGIN IMMEDIATE");
    expect(await counted(store)).toBe(0);
    expect(await counted(store)).toBe(1);
    other.exec("ROLLBACK");
    clock.time += 10_000;
    expect(await counted(store)).toBe(5);
    expect(notices).toEqual([
      expect.stringContaining("are not shared with other processes for now"),
    ]);
    other.close();
    await store.close();
  },
);

testFile.each([
  ["its folder is a file", () => writeFileSync(join(folder, "pulumi-conversation"), "")],
  ["a folder has its name", () => mkdirSync(path(), { recursive: true })],
  [
    "it is no database",
    () => {
      mkdirSync(join(folder, "pulumi-conversation"));
      writeFileSync(path(), "no database, and long enough to be taken for one".repeat(99));
      chmodSync(path(), 0o600);
    },
  ],
])("a file that cannot be used because %s fails no call", async (_, prepare) => {
  prepare();
  const notices: string[] = [];
  const store = shared(notices);
  await counted(store);
  expect(await counted(store)).toBe(1);
  expect(notices).toHaveLength(1);
  await store.close();
});

test("the file is in the cache folder of the user", () => {
  expect(bucketFilePath({}, "/home/eve")).toBe(
    "/home/eve/.cache/pulumi-conversation/buckets.sqlite",
  );
  expect(bucketFilePath({ XDG_CACHE_HOME: "relative" }, "/home/eve")).toMatch(/^\/home\/eve/);
  expect(bucketFilePath({ XDG_CACHE_HOME: "/c" }, "/home/eve")).toMatch(/^\/c\/pulumi/);
});

test("what Redis keeps and nobody can read is written anew", async () => {
  const redis = new FakeRedis(() => 0);
  redis.kept.set("conversation:k", "4 0 1 0");
  const store = redisBuckets("redis://localhost", redis.connect);
  expect([await counted(store), await counted(store)]).toEqual([0, 1]);
});

test.each([["text"], [["1", "soon", ""]], [["1", "", ""]], [["1", "5"]]])(
  "an answer of Redis that cannot be read (%j) is a failure",
  async (reply) => {
    const store = redisBuckets("redis://localhost", new FakeRedis(() => 0, reply).connect);
    await expect(counted(store)).rejects.toThrow("unreadable reply");
  },
);

test("no variable turns the check of the Redis server's certificate off", async () => {
  const { port, received } = await startUntrustedServer();
  const client = await connectRedis(`rediss://:hunter2@localhost:${port}`);
  client.disconnect();
  expect(received).toEqual([]);
});
