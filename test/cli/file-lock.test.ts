import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { tryLock } from "../../provider/pulumi-cli/own-folders.js";
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

test("the lock of a process that works on is respected, however old clocks say that it is", () => {
  const path = lockFile();
  const { release } = tryLock(path);
  utimesSync(path, new Date(0), new Date(0));
  expect(tryLock(path)).toHaveProperty("heldBy");
  release?.();
  expect(existsSync(path)).toBe(false);
});

test.runIf(process.platform === "linux")(
  "a later process with the number of the owner does not hold its lock",
  () => {
    const path = lockFile();
    tryLock(path);
    writeFileSync(path, readFileSync(path, "utf8").replace(/\d+$/, "1"));
    expect(tryLock(path).release).toBeDefined();
  },
);

test("only one at a time takes what was left behind, and none removes what another has taken", () => {
  const path = lockedBy(`${endedProcess()} on ${hostname()}`);
  const first = tryLock(`${path}.clearing`);
  expect(tryLock(path)).toHaveProperty("heldBy");
  first.release?.();
  const { release } = tryLock(path);
  writeFileSync(path, "1 on elsewhere");
  release?.();
  expect(readFileSync(path, "utf8")).toBe("1 on elsewhere");
  expect(readdirSync(dirname(path))).toEqual(["lock"]);
});
