import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { privateFolder, tryLock } from "../../cli/pulumi/own-folders.js";
import { makeFolders } from "../../provider/kernel/files.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const lockFile = () => join(temporaryFolder(), "below", "lock");

test("a lock is held by one at a time, until it is released", () => {
  const path = lockFile();
  const release = tryLock(path);
  expect(release).toBeDefined();
  expect(tryLock(path)).toBeUndefined();
  release?.();
  const again = tryLock(path);
  expect(again).toBeDefined();
  again?.();
});

test("the lock of a process is respected as long as that runs, however it ends", async () => {
  const path = lockFile();
  mkdirSync(dirname(path));
  const script = `
    const { DatabaseSync } = require("node:sqlite");
    globalThis.file = new DatabaseSync(process.argv[1]);
    file.exec("BEGIN EXCLUSIVE");
    console.log("locked");
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["-e", script, path]);
  await once(child.stdout, "data");
  expect(tryLock(path)).toBeUndefined();
  child.kill("SIGKILL");
  await once(child, "exit");
  const release = tryLock(path);
  expect(release).toBeDefined();
  release?.();
});

const endedProcess = (): number => spawnSync("/bin/sh", ["-c", "exit 0"]).pid;

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

const leftBy = (name: string, mode = 0o700): string => {
  const folder = join(parent, name);
  mkdirSync(join(folder, "backend"), { recursive: true });
  chmodSync(folder, mode);
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
  const ended = `${hostname()}-${endedProcess()}-x`;
  const left = leftBy(`${prefix}${ended}`);
  const staying = [
    leftBy(`${prefix}${hostname()}-${process.pid}-x`),
    leftBy(`${prefix}elsewhere-${endedProcess()}-x`),
    leftBy(`${prefix}${hostname()}--x`),
    leftBy(`${prefix}${ended}-open`, 0o755),
    leftBy(`other-${ended}`),
  ];
  const { remove } = privateFolder(prefix);
  expect(existsSync(left)).toBe(false);
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
