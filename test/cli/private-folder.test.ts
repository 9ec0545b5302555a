import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { privateFolder } from "../../provider/pulumi-cli/own-folders.js";
import { temporaryFolder } from "./temporary-folder.js";

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

/** The id of a process that has ended. */
const ended = (): number => spawnSync("/bin/sh", ["-c", "exit 0"]).pid;

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
  const left = leftBy(`${prefix}left`, `${ended()} on ${hostname()}`);
  const longAgo = new Date(Date.now() - 11 * 60_000);
  const old = leftBy(`${prefix}old-and-unowned`);
  utimesSync(old, longAgo, longAgo);
  const staying = [
    leftBy(`${prefix}used`, `${process.pid} on ${hostname()}`),
    leftBy(`${prefix}elsewhere`, `${ended()} on elsewhere`),
    leftBy(`${prefix}unowned`),
    leftBy("other-left", `${ended()} on ${hostname()}`),
  ];
  const { remove } = privateFolder(prefix);
  expect([left, old].filter((folder) => existsSync(folder))).toEqual([]);
  expect(staying.filter((folder) => !existsSync(folder))).toEqual([]);
  remove();
});
