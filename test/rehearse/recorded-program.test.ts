import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  fileIdentity,
  jsonDigest,
  programChanges,
  readProgram,
} from "../../cli/rehearse/recorded-program.js";
import { temporaryFolder } from "../cli/temporary-folder.js";
import { optionsIn, programDigest } from "./program-digest.js";

const project = () => {
  const folder = temporaryFolder();
  const write = (path: string, text: string): void => {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  write("Pulumi.yaml", "name: shop\n");
  write("Pulumi.prod.yaml", "config: {}\n");
  write("src/index.ts", "1");
  write("package-lock.json", "{}");
  const digest = (from = folder) => programDigest(folder, from);
  return { folder, write, digest };
};

test.each(["src/index.ts", "src/new.ts", "Pulumi.yaml", "Pulumi.prod.yaml", "package-lock.json"])(
  "a program is another one when %s changes",
  (path) => {
    const { write, digest } = project();
    const before = digest();
    write(path, "changed");
    expect(digest()).not.toBe(before);
  },
);

test("a file that is gone or renamed makes another program", () => {
  const { folder, write, digest } = project();
  const before = digest();
  rmSync(join(folder, "src/index.ts"));
  const without = digest();
  expect(without).not.toBe(before);
  write("src/main.ts", "1");
  expect(digest()).not.toBe(without);
  expect(digest()).not.toBe(before);
});

test("what is installed, other stacks and the record do not count; nor does the folder asked from", () => {
  const { folder, write, digest } = project();
  const before = digest();
  for (const path of [
    "node_modules/a/index.js",
    ".git/HEAD",
    ".pulumi/stacks/shop/prod.json",
    "Pulumi.dev.yaml",
    "record.json",
  ])
    write(path, "x");
  expect(digest()).toBe(before);
  expect(digest(join(folder, "src"))).toBe(before);
});

test.each([
  ["main: ../app", "app/lib/more.ts"],
  ["main: ../app/index.ts", "app/index.ts"],
  ["main: '../app/index.ts' # the program", "app/new.ts"],
  ["main: src", "pnpm-lock.yaml"],
])("with %s, the file ../%s counts, too", (main, path) => {
  const repository = temporaryFolder();
  const write = (name: string, text: string): void => {
    mkdirSync(join(repository, name, ".."), { recursive: true });
    writeFileSync(join(repository, name), text);
  };
  write(".git/HEAD", "");
  write("pnpm-lock.yaml", "{}");
  write("stack/Pulumi.yaml", `name: shop\n${main}\n`);
  write("app/index.ts", "1");
  write("app/node_modules/a/index.js", "1");
  write("elsewhere/index.ts", "1");
  const digest = () => programDigest(join(repository, "stack"));
  const before = digest();
  write("elsewhere/index.ts", "2");
  write("app/node_modules/a/index.js", "2");
  expect(digest()).toBe(before);
  write(path, "changed");
  expect(digest()).not.toBe(before);
});

test("what the run writes is left out, then and later, under whatever name it is reached", () => {
  const { folder, write } = project();
  write("comment.md", "");
  symlinkSync(join(folder, "comment.md"), join(folder, "link.md"));
  const written = [fileIdentity(join(folder, "link.md")) ?? ""];
  const before = readProgram(folder, { ...optionsIn(folder), written });
  expect(before.outputs).toEqual(["comment.md", "link.md", "record.json"]);
  write("comment.md", "the report");
  write("record.json", "{}");
  const later = { ...optionsIn(folder), recordFile: join(folder, "elsewhere.json") };
  const changes = (more: Partial<typeof later>) =>
    programChanges(before, readProgram(folder, { ...later, outputs: before.outputs, ...more }));
  expect(changes({})).toEqual([]);
  rmSync(join(folder, "comment.md"));
  expect(changes({})).toEqual([]);
  write("of-the-check.txt", "");
  expect(changes({})).toEqual(["of-the-check.txt is new"]);
  expect(changes({ written: [fileIdentity(join(folder, "of-the-check.txt")) ?? ""] })).toEqual([]);
});

test("each file that is new, gone or another one is named, and the package of another version", () => {
  const { folder, write } = project();
  const options = optionsIn(folder);
  const before = readProgram(folder, options);
  write("src/new.ts", "1");
  write("package-lock.json", "{ }");
  rmSync(join(folder, "src/index.ts"));
  expect(programChanges({ ...before, version: "0.0.1" }, readProgram(folder, options))).toEqual([
    `pulumi-conversation is ${before.version}, and was 0.0.1`,
    "package-lock.json changed",
    "src/index.ts is gone",
    "src/new.ts is new",
  ]);
});

test("a file of the program into which a check is written is no longer the same", () => {
  const { folder } = project();
  const before = readProgram(folder, optionsIn(folder));
  const written = [fileIdentity(join(folder, "src/index.ts")) ?? ""];
  const now = readProgram(folder, { ...optionsIn(folder), written });
  expect(programChanges(before, now)).toEqual(["src/index.ts changed"]);
});

test("a record that is named through a link to the folder is no part of the program either", () => {
  const { folder, write, digest } = project();
  const before = digest();
  const beside = temporaryFolder();
  symlinkSync(folder, join(beside, "shop"));
  write("record.json", "{}");
  const recordFile = join(beside, "shop", "record.json");
  const now = readProgram(folder, { ...optionsIn(folder), recordFile });
  expect(jsonDigest(now)).toBe(before);
});
