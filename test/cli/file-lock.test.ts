import { spawnSync } from "node:child_process";
import { readdirSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { tryLock } from "../../cli/process/file-lock.js";
import { temporaryFolder } from "./temporary-folder.js";

const lockFile = () => join(temporaryFolder(), "below", "lock");

const lockedBy = (owner: string): string => {
  const path = lockFile();
  tryLock(path).release?.();
  writeFileSync(path, owner);
  return path;
};

/** The id of a process that has ended. */
const endedProcess = (): number => spawnSync("/bin/sh", ["-c", "exit 0"]).pid;

test("a lock that is held names its owner", () => {
  const path = lockFile();
  expect(tryLock(path).release).toBeDefined();
  expect(tryLock(path)).toEqual({ heldBy: `process ${process.pid} on ${hostname()}` });
});

test("a released lock can be taken, and nothing is left over", () => {
  const path = lockFile();
  tryLock(path).release?.();
  tryLock(path).release?.();
  expect(readdirSync(dirname(path))).toEqual([]);
});

test("the lock of a process that has ended is taken over", () => {
  expect(tryLock(lockedBy(`${endedProcess()} on ${hostname()}`)).release).toBeDefined();
});

test("the lock of another machine is respected until it is too old", () => {
  const path = lockedBy(`${endedProcess()} on elsewhere`);
  expect(tryLock(path)).toHaveProperty("heldBy");
  utimesSync(path, new Date(0), new Date(0));
  expect(tryLock(path).release).toBeDefined();
});
