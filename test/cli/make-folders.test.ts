import { existsSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolders } from "../../provider/kernel/files.js";
import { temporaryFolder } from "./temporary-folder.js";

test("missing folders are made, and the outermost one is told", () => {
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
