import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { programDigest } from "../../cli/rehearse/record/program-digest.js";
import { temporaryFolder } from "../cli/temporary-folder.js";

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
  const digest = (from = folder) =>
    programDigest(from, { stack: "prod", without: [join(folder, "record.json")] });
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
  const digest = () => programDigest(join(repository, "stack"), { stack: "prod", without: [] });
  const before = digest();
  write("elsewhere/index.ts", "2");
  write("app/node_modules/a/index.js", "2");
  expect(digest()).toBe(before);
  write(path, "changed");
  expect(digest()).not.toBe(before);
});
