import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { bucketFilePath } from "../../provider/pacing/bucket-file.js";
import { fileBuckets } from "../../provider/pacing/file-buckets.js";
import { sharedBuckets } from "../../provider/pacing/shared-buckets.js";
import { JumpingClock } from "../service/support/clocks.js";

const rules = { periodMs: 1000, capacity: 3, marginMs: 0 };
const lesson = { spike: 4, single: false, searched: true, settled: false };

let folder = "";
let now = 0;
let wall = 0;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pulumi-conversation-buckets-"));
  now = 1_000_000;
  wall = Date.UTC(2026, 0, 1);
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const path = () => join(folder, "pulumi-conversation", "buckets.sqlite");
const opened = (start = "first") =>
  fileBuckets({ path: path(), time: { now: () => now, start }, wall: () => wall });

test("two processes take from the same bucket", async () => {
  const [one, two] = [opened(), opened()];
  await one.take("k", rules);
  now += 1000;
  expect(await two.take("k", rules)).toMatchObject({ waitMs: 0 });
  expect(await one.take("k", rules)).toMatchObject({ waitMs: 1000 });
  await Promise.all([one.close(), two.close()]);
});

test("a later process knows the tokens and the lesson of the one before", async () => {
  const one = opened();
  await one.take("k", rules);
  await one.learn("k", lesson);
  await one.close();
  now += 2500;
  const two = opened();
  expect(await two.take("k", rules)).toEqual({ waitMs: 0, tokens: 2.5, lesson });
  await two.close();
});

test("setting the wall clock changes no wait", async () => {
  const state = opened();
  await state.take("k", rules);
  wall -= 30_000;
  now += 400;
  expect(await state.take("k", rules)).toMatchObject({ waitMs: 600 });
  await state.close();
});

test("after a new start of the machine the bucket is not known, but its lesson is", async () => {
  const one = opened();
  await one.learn("k", lesson);
  await one.close();
  now = 10;
  const two = opened("second");
  expect(await two.take("k", rules)).toEqual({ waitMs: 1000, tokens: 0, lesson });
  await two.close();
});

test("a lesson is forgotten after a day", async () => {
  const one = opened();
  await one.learn("k", lesson);
  wall += 25 * 60 * 60_000;
  expect(await one.take("k", rules)).not.toHaveProperty("lesson");
  await one.close();
});

test("a file of another release is left alone", async () => {
  mkdirSync(join(folder, "pulumi-conversation"));
  const file = new DatabaseSync(path());
  file.exec("PRAGMA user_version = 7; CREATE TABLE theirs (x)");
  file.close();
  await expect(async () => opened().take("k", rules)).rejects.toThrow("another release");
  const again = new DatabaseSync(path());
  expect(again.prepare("SELECT name FROM sqlite_schema").all()).toEqual([{ name: "theirs" }]);
  again.close();
});

const shared = (notices: string[], clock = new JumpingClock()) =>
  sharedBuckets({
    clock,
    environment: { XDG_CACHE_HOME: folder },
    onNotice: (text) => notices.push(text),
  });

test("a locked file is replaced by a local bucket, said once, and used again later", async () => {
  const notices: string[] = [];
  const clock = new JumpingClock();
  const state = shared(notices, clock);
  await state.take("k", rules);
  const other = new DatabaseSync(path());
  other.exec("BEGIN IMMEDIATE");
  expect(await state.take("k", rules)).toMatchObject({ waitMs: 1000, tokens: 0 });
  await state.learn("k", lesson);
  other.exec("ROLLBACK");
  clock.time += 10_000;
  await state.learn("k", lesson);
  expect(other.prepare("SELECT lesson FROM buckets").all()).toEqual([{ lesson: "4 0 1 0" }]);
  expect(notices).toEqual([expect.stringContaining("are not shared with other processes for now")]);
  other.close();
  await state.close();
}, 30_000);

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
  const state = shared(notices);
  expect(await state.take("k", rules)).toMatchObject({ waitMs: 1000 });
  await state.hold("k", { periodMs: 1000, refund: false, waitMs: 0 });
  // The user root may write everywhere.
  const writable = what === "it cannot be written" && process.getuid?.() === 0;
  expect(notices).toHaveLength(writable ? 0 : 1);
  await state.close();
  if (what === "it cannot be written") chmodSync(join(folder, "pulumi-conversation"), 0o700);
});

test("on Node 22 nothing is written, since its SQLite prints a warning", async () => {
  const environment = { XDG_CACHE_HOME: folder };
  const state = sharedBuckets({ clock: new JumpingClock(), environment, nodeVersion: "22.20.0" });
  expect(await state.take("k", rules)).toMatchObject({ waitMs: 1000 });
  expect(() => new DatabaseSync(path(), { readOnly: true })).toThrow();
});

test("the file is in the cache folder of the user", () => {
  expect(bucketFilePath({}, "/home/eve")).toBe(
    "/home/eve/.cache/pulumi-conversation/buckets.sqlite",
  );
  expect(bucketFilePath({ XDG_CACHE_HOME: "relative" }, "/home/eve")).toMatch(/^\/home\/eve/);
  expect(bucketFilePath({ XDG_CACHE_HOME: "/c" }, "/home/eve")).toMatch(/^\/c\/pulumi/);
});
