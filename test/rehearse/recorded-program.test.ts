import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  fileIdentity,
  jsonDigest,
  type ProgramSearchOptions,
  programChanges,
  readProgram,
} from "../../cli/rehearse/recorded-program.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** How a run with `--record record.json` finds the project of stack `prod` in a folder. */
const optionsIn = (folder: string): ProgramSearchOptions => ({
  stack: "prod",
  toolFolders: [],
  recordFile: join(folder, "record.json"),
  written: [],
  outputs: [],
});

/** All that a record says of a program, as one text. */
const programDigest = (folder: string, from = folder): string =>
  jsonDigest(readProgram(from, optionsIn(folder)));

const written = () => {
  const folder = temporaryFolder();
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  return { folder, write };
};

const project = () => {
  const { folder, write } = written();
  write("Pulumi.yaml", "name: shop\n");
  write("Pulumi.prod.yaml", "config: {}\n");
  write("src/index.ts", "1");
  write("package-lock.json", "{}");
  const digest = (from = folder) => programDigest(folder, from);
  return { folder, write, digest };
};

/** A project in the folder `stack` of a repository. */
const repository = () => {
  const { folder, write } = written();
  write(".git/HEAD", "");
  write("stack/Pulumi.yaml", "name: shop\n");
  return { folder, write, digest: () => programDigest(join(folder, "stack")) };
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
  const { write, digest } = repository();
  write("pnpm-lock.yaml", "{}");
  write("stack/Pulumi.yaml", `name: shop\n${main}\n`);
  write("app/index.ts", "1");
  write("app/node_modules/a/index.js", "1");
  write("elsewhere/index.ts", "1");
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
    `pulumi-conversation is ${before.version}; it was 0.0.1`,
    "package-lock.json changed",
    "src/index.ts was removed",
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

/** Ways in which one file names another; the path is relative, in the form of a program. */
const imports: readonly ((path: string) => string)[] = [
  (path) => `import { a } from "${path}";`,
  (path) => `export * from '${path}';`,
  (path) => `const { a } = require("${path}");`,
  (path) => `const a = await import(\`${path}\`);`,
  (path) => `import type { A } from "${path.replace(/\.ts$/, ".js")}";`,
  (path) => `import "${path.replace(/\.m?ts$/, "")}";`,
  (path) => `import "${path.replace(/\/index\.ts$/, "")}";`,
];

const place = fc.record({
  folder: fc.constantFrom("stack/lib", "shared", "shared/deep/er", "größe x"),
  form: fc.constantFrom("ts", "mts", "js", "cjs", "tsx"),
  isIndex: fc.boolean(),
  way: fc.nat(imports.length - 1),
});

test("every file that the program reaches by paths counts, wherever it is, and no other one", () => {
  fc.assert(
    fc.property(fc.array(place, { minLength: 1, maxLength: 5 }), (places) => {
      const { write, digest } = repository();
      const path = places.map(({ folder, form, isIndex }, at) =>
        isIndex ? `${folder}/m${at}/index.ts` : `${folder}/m${at}.${form}`,
      );
      const named = (from: string, at: number): string => {
        const to = path[at];
        const place = places[at];
        if (to === undefined || !place) return "";
        const way = imports[place.way];
        const away = relative(dirname(from), to);
        const isShort = /\.(ts|js)$/.test(to);
        const text = away.startsWith(".") ? away : `./${away}`;
        return (isShort ? way : imports[0])?.(text) ?? "";
      };
      write("stack/index.ts", named("stack/index.ts", 0));
      for (const [at, file] of path.entries()) write(file, `${named(file, at + 1)} // 1`);
      write("shared/unused.ts", "1");
      const before = digest();
      write("shared/unused.ts", "2");
      expect(digest()).toBe(before);
      for (const [at, file] of path.entries()) {
        write(file, `${named(file, at + 1)} // 2`);
        expect(digest(), file).not.toBe(before);
        write(file, `${named(file, at + 1)} // 1`);
        expect(digest()).toBe(before);
      }
    }),
    { numRuns: Number(process.env.FUZZ_SCALE ?? 1) * 30 },
  );
});

test("settings of the compiler, files that are read, and circles of imports", () => {
  const { write, digest } = repository();
  write("stack/tsconfig.json", '{ "extends": "../tsconfig.base.json" }');
  write("stack/index.ts", 'readFileSync("../data/hours.json"); import "../shared/a.js";');
  for (const file of ["tsconfig.base.json", "data/hours.json", "shared/b.ts"]) write(file, "{}");
  write("shared/a.ts", 'import "./b.js";');
  write("shared/b.ts", 'import "./a.js"; import "./gone.js"; import "../stack/index.js";');
  for (const file of ["tsconfig.base.json", "data/hours.json", "shared/b.ts"]) {
    const before = digest();
    write(file, "{ }");
    expect(digest(), file).not.toBe(before);
  }
});

test("a package of the workspace counts by its sources, an installed one by the lock file", () => {
  const { folder, write, digest } = repository();
  const dependsOn = (...names: string[]): string =>
    JSON.stringify({ dependencies: Object.fromEntries(names.map((name) => [name, "*"])) });
  write("stack/package.json", dependsOn("@shop/names", "zod", "pulumi-conversation", "none"));
  write("packages/names/package.json", dependsOn("@shop/words"));
  for (const name of ["names", "words", "other", "hub"]) write(`packages/${name}/index.ts`, "1");
  write("node_modules/.store/zod@4/node_modules/zod/index.js", "1");
  mkdirSync(join(folder, "node_modules", "@shop"));
  const links = [
    ...[["@shop/names", "packages/names"] as const, ["@shop/words", "packages/words"] as const],
    ["@shop/other", "packages/other"] as const,
    ["pulumi-conversation", "packages/hub"] as const,
    ["zod", "node_modules/.store/zod@4/node_modules/zod"] as const,
  ];
  for (const [name, to] of links)
    symlinkSync(join(folder, to), join(folder, "node_modules", name), "dir");
  const before = digest();
  for (const file of ["packages/other/index.ts", "packages/hub/index.ts"]) write(file, "2");
  write("node_modules/.store/zod@4/node_modules/zod/index.js", "2");
  expect(digest()).toBe(before);
  for (const name of ["names", "words"]) {
    write(`packages/${name}/more.ts`, "1");
    const changed = digest();
    expect(changed, name).not.toBe(before);
    write(`packages/${name}/more.ts`, "2");
    expect(digest(), name).not.toBe(changed);
  }
});

test("the configuration of the stack counts where the project file has it, that of others does not", () => {
  const { write, digest } = repository();
  write("stack/Pulumi.yaml", "name: shop\nstackConfigDir: ../config\n");
  for (const name of ["prod", "dev"]) write(`config/Pulumi.${name}.yaml`, "config: {}\n");
  const before = digest();
  write("config/Pulumi.dev.yaml", "config: { a: b }\n");
  expect(digest()).toBe(before);
  write("config/Pulumi.prod.yaml", "config: { a: b }\n");
  expect(digest()).not.toBe(before);
});

test("what a link in the program leads to counts; circles, broken links and what is installed do not stop it", () => {
  const { folder, write, digest } = repository();
  for (const file of ["shared/deep/a.ts", "icons/icon.png", "node_modules/z/a.js"])
    write(file, "1");
  const link = (to: string, from: string) => symlinkSync(to, join(folder, from));
  link(join(folder, "shared"), "stack/shared");
  link("../icons/icon.png", "stack/icon.png");
  link("nowhere", "stack/broken");
  link("../stack", "shared/back");
  link("../../shared", "shared/deep/itself");
  link("..", "stack/up");
  link("../node_modules/z", "stack/z");
  for (const file of ["shared/deep/a.ts", "icons/icon.png"]) {
    const before = digest();
    write(file, "2");
    expect(digest(), file).not.toBe(before);
  }
  const before = digest();
  write("node_modules/z/a.js", "2");
  write("unused.ts", "2");
  expect(digest()).toBe(before);
});
