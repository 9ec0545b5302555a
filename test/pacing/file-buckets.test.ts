import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, expect, test } from "vitest";
import type { BucketStore } from "../../provider/pacing/bucket-store.js";
import { bucketFilePath, fileBuckets } from "../../provider/pacing/file-buckets.js";
import { pacedCalls, sharedBuckets } from "../../provider/pacing/pacer.js";
import { JumpingClock } from "../service/support/clocks.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const kept = (value: string) => ({ at: now, value });

/** Writes a value and gives what was kept before. */
const swapped = (store: BucketStore, value: string) =>
  store.change("k", (before) => ({ state: kept(value), result: before }));

const found = (store: BucketStore) => store.change("k", (state) => ({ state, result: state }));

let folder = "";
let now = 0;

beforeEach(() => {
  folder = temporaryFolder();
  now = 1_000_000;
});

const path = () => join(folder, "pulumi-conversation", "buckets.sqlite");
const opened = () => fileBuckets(path(), () => now);

test("two processes change the same bucket, one after the other", async () => {
  const [one, two] = [opened(), opened()];
  expect(await swapped(one, "first")).toBeUndefined();
  expect(await swapped(two, "second")).toMatchObject({ value: "first" });
  expect(await found(one)).toMatchObject({ value: "second" });
  await Promise.all([one.close(), two.close()]);
});

test("changes of many processes at once are all counted", async () => {
  const processes = [opened(), opened(), opened(), opened()];
  const count = (store: BucketStore) =>
    store.change("n", (before) => {
      const state = { at: (before?.at ?? 0) + 1 };
      return { state, result: state.at };
    });
  await Promise.all(processes.flatMap((store) => Array.from({ length: 25 }, () => count(store))));
  expect(await found(processes[0] ?? opened())).toBeUndefined();
  expect(await count(opened())).toBe(101);
  await Promise.all(processes.map((store) => store.close()));
});

/** Runs SQL on the file, as another process would. */
const onFile = (sql: string) => {
  const file = new DatabaseSync(path());
  const rows = file.prepare(sql).all();
  file.close();
  return rows;
};

test("what did not change is not written, and what was not used for a week is removed", async () => {
  const one = opened();
  await swapped(one, "first");
  onFile("UPDATE limits SET used_at = used_at - 6 * 24 * 3600");
  await found(one);
  const [before] = onFile("SELECT unixepoch() - used_at AS age FROM limits");
  expect(before?.age).toBeGreaterThanOrEqual(6 * 24 * 3600);
  await one.close();
  const two = opened();
  expect(await found(two)).toMatchObject({ value: "first" });
  onFile("UPDATE limits SET used_at = used_at - 2 * 24 * 3600");
  await two.close();
  const three = opened();
  expect(await found(three)).toBeUndefined();
  await three.close();
});

test("a clock that starts anew with the machine, behind what is stored, hardly delays a call", async () => {
  const answer = async () => ({ status: 200, headers: {}, text: "" });
  const secondsOf = async (calls: number, startMs: number) => {
    const clock = new JumpingClock();
    const store = fileBuckets(path(), () => startMs + clock.time);
    const pace = pacedCalls({ clock, tenant: "t", plan: "basic", share: 1, store });
    for (let n = 0; n < calls; n += 1) await pace({ method: "GET", template: "/channels" }, answer);
    await store.close();
    return clock.time / 1000;
  };
  await secondsOf(3, 1_000_000);
  expect(await secondsOf(1, 10)).toBeLessThanOrEqual(2.1);
});

const shared = (notices: string[], clock = new JumpingClock()) =>
  sharedBuckets({
    clock,
    environment: { XDG_CACHE_HOME: folder },
    nodeVersion: "24.0.0",
    onNotice: (text) => notices.push(text),
  });

test("a locked file is replaced by a local bucket, said once, and used again later", async () => {
  const notices: string[] = [];
  const clock = new JumpingClock();
  const store = shared(notices, clock);
  await swapped(store, "shared");
  const other = new DatabaseSync(path());
  other.exec("BEGIN IMMEDIATE");
  expect(await swapped(store, "local")).toBeUndefined();
  expect(await found(store)).toMatchObject({ value: "local" });
  other.exec("ROLLBACK");
  clock.time += 10_000;
  expect(await found(store)).toMatchObject({ value: "shared" });
  expect(notices).toEqual([expect.stringContaining("are not shared with other processes for now")]);
  other.close();
  await store.close();
});

test.each([
  ["its folder is a file", () => writeFileSync(join(folder, "pulumi-conversation"), "")],
  ["a folder has its name", () => mkdirSync(path(), { recursive: true })],
  [
    "it cannot be written",
    () => {
      mkdirSync(join(folder, "pulumi-conversation"));
      writeFileSync(path(), "");
      chmodSync(path(), 0o400);
      chmodSync(join(folder, "pulumi-conversation"), 0o500);
    },
  ],
])("a file that cannot be used because %s fails no call", async (what, prepare) => {
  prepare();
  const notices: string[] = [];
  const store = shared(notices);
  await swapped(store, "local");
  expect(await found(store)).toMatchObject({ value: "local" });
  // The user root may write everywhere.
  const writable = what === "it cannot be written" && process.getuid?.() === 0;
  expect(notices).toHaveLength(writable ? 0 : 1);
  await store.close();
  if (what === "it cannot be written") chmodSync(join(folder, "pulumi-conversation"), 0o700);
});

test("on Node 22 nothing is written, since its SQLite prints a warning, and a process has one store", async () => {
  const environment = { XDG_CACHE_HOME: folder };
  const options = { clock: new JumpingClock(), environment, nodeVersion: "22.20.0" };
  await swapped(sharedBuckets(options), "first");
  expect(await found(sharedBuckets(options))).toMatchObject({ value: "first" });
  expect(() => new DatabaseSync(path(), { readOnly: true })).toThrow();
});

test("the file is in the cache folder of the user", () => {
  expect(bucketFilePath({}, "/home/eve")).toBe(
    "/home/eve/.cache/pulumi-conversation/buckets.sqlite",
  );
  expect(bucketFilePath({ XDG_CACHE_HOME: "relative" }, "/home/eve")).toMatch(/^\/home\/eve/);
  expect(bucketFilePath({ XDG_CACHE_HOME: "/c" }, "/home/eve")).toMatch(/^\/c\/pulumi/);
});

test("two profiles of one tenant in one process keep to its rate together", async () => {
  writeFileSync(join(folder, "pulumi-conversation"), "");
  const endpoint = { method: "GET", template: "/channels" } as const;
  const answer = async () => ({ status: 200, headers: {}, text: "" });
  const paceOn = (clock: JumpingClock) =>
    pacedCalls({ clock, tenant: "t", plan: "developer", share: 1, store: shared([], clock) });
  const clock = new JumpingClock();
  const paces = [paceOn(clock), paceOn(clock)];
  for (let times = 0; times < 10; times++) for (const pace of paces) await pace(endpoint, answer);
  const alone = new JumpingClock();
  const pace = paceOn(alone);
  for (let times = 0; times < 20; times++) await pace(endpoint, answer);
  expect(alone.time).toBeGreaterThan(10_000);
  expect(clock.time).toBeGreaterThanOrEqual(0.95 * alone.time);
});
