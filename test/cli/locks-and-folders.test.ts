import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { makeFolders } from "../../provider/kernel/files.js";
import { privateFolder, tryLock } from "../../provider/pulumi-cli/own-folders.js";
import { temporaryFolder } from "../support/temporary-folder.js";

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

test("the lock of a process that is hidden is respected", () => {
  const path = lockedBy(`${endedProcess()} on ${hostname()} 0f/1`);
  const kill = vi.spyOn(process, "kill").mockImplementation(() => {
    throw Object.assign(new Error("hidden"), { code: "EPERM" });
  });
  onTestFinished(() => kill.mockRestore());
  expect(tryLock(path)).toHaveProperty("heldBy");
});

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

const prefix = "private-folder-";
let parent: string;

beforeEach(() => {
  const before = process.env.TMPDIR;
  onTestFinished(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
  parent = temporaryFolder();
  process.env.TMPDIR = parent;
});

const leftBy = (name: string, owner?: string): string => {
  const folder = join(parent, name);
  mkdirSync(join(folder, "backend"), { recursive: true, mode: 0o700 });
  if (owner !== undefined) writeFileSync(join(folder, "owner"), owner);
  return folder;
};

test("only this user can read it, and it is removed with all that is in it", () => {
  const { folder, remove } = privateFolder(prefix);
  expect(statSync(folder).mode & 0o077).toBe(0);
  writeFileSync(join(folder, "file"), "");
  const listeners = process.listenerCount("exit");
  remove();
  expect(existsSync(folder)).toBe(false);
  expect(process.listenerCount("exit")).toBe(listeners - 1);
});

test("what a killed process left is removed, and nothing else", () => {
  const left = leftBy(`${prefix}left`, `${endedProcess()} on ${hostname()}`);
  const longAgo = new Date(Date.now() - 11 * 60_000);
  const old = leftBy(`${prefix}old-and-unowned`);
  utimesSync(old, longAgo, longAgo);
  const staying = [
    leftBy(`${prefix}used`, `${process.pid} on ${hostname()}`),
    leftBy(`${prefix}elsewhere`, `${endedProcess()} on elsewhere`),
    leftBy(`${prefix}unowned`),
    leftBy("other-left", `${endedProcess()} on ${hostname()}`),
  ];
  const { remove } = privateFolder(prefix);
  expect([left, old].filter((folder) => existsSync(folder))).toEqual([]);
  expect(staying.filter((folder) => !existsSync(folder))).toEqual([]);
  remove();
});

test("missing folders are made, and the outermost one is reported", () => {
  const folder = temporaryFolder();
  expect(makeFolders(join(folder, "a", "b", "c"))).toBe(join(folder, "a"));
  expect(makeFolders(join(folder, "a", "b", "d", "e"))).toBe(join(folder, "a", "b", "d"));
  expect(existsSync(join(folder, "a", "b", "d", "e"))).toBe(true);
  expect(makeFolders(join(folder, "a", "b"))).toBeUndefined();
});

test("what is no folder is never taken for one", () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "file"), "mine");
  symlinkSync(join(temporaryFolder(), "at", "all"), join(folder, "link"));
  expect(() => makeFolders(join(folder, "file", "below"))).toThrow(/ENOTDIR/);
  for (const name of ["link", "link/below"])
    expect(() => makeFolders(join(folder, name))).toThrow(/EEXIST|ENOENT/);
  expect(readdirSync(folder).toSorted()).toEqual(["file", "link"]);
});

test.runIf(process.platform === "linux")("below /proc it ends with the system's error", () => {
  for (const path of ["/proc/none", "/proc/self/none/below", "/dev/fd/none"])
    expect(() => makeFolders(path)).toThrow(/ENOENT/);
});
