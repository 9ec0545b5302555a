import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { publint } from "publint";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = join(__dirname, "..", "..");
const modules = join(root, "node_modules");
let folder = "";
let packed = "";

const run = (file: string, args: readonly string[], cwd = folder): string =>
  execFileSync(process.execPath, [join(modules, file), ...args], { cwd, encoding: "utf8" });

const compilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  module: "nodenext",
  target: "es2022",
  noEmit: true,
  types: ["node"],
  skipLibCheck: false,
};

/** A user's project: the packed package, installed beside the SDK that it takes from its user. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "conversation-consumer-"));
  const pack = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
  const [{ filename }] = JSON.parse(execFileSync("npm", pack, { cwd: root, encoding: "utf8" }));
  packed = filename;
  const installed = join(folder, "node_modules", "pulumi-conversation");
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", ["-xzf", join(folder, filename), "-C", installed, "--strip-components=1"]);
  for (const name of [
    "@pulumi",
    "@types",
    "zod",
    "undici",
    "p-retry",
    "is-network-error",
    "hono",
    "@hono",
    "bottleneck",
    "commander",
  ]) {
    symlinkSync(join(modules, name), join(folder, "node_modules", name));
  }
  for (const [name, type] of [
    ["cjs", "commonjs"],
    ["esm", "module"],
  ] as const) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, "package.json"), JSON.stringify({ type }));
    writeFileSync(join(folder, name, "tsconfig.json"), JSON.stringify({ compilerOptions }));
    copyFileSync(join(root, "test", "types", "program.ts"), join(folder, name, "program.ts"));
    copyFileSync(join(root, "test", "types", "runtime.ts"), join(folder, name, "runtime.ts"));
  }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("publint has nothing to say, and the package keeps to its size", async () => {
  const { messages } = await publint({ pkgDir: root, pack: false });
  expect(messages).toEqual([]);
  expect(statSync(join(folder, packed)).size).toBeLessThan(1_400_000);
});

test("every entry point has its types for each way that TypeScript resolves them", () => {
  const { exports, typesVersions } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const types = Object.entries<{ readonly types?: string }>(exports).flatMap(
    ([entry, { types }]) => (types && entry !== "." ? [[entry.slice(2), [types]]] : []),
  );
  expect(typesVersions["*"]).toEqual(Object.fromEntries(types));
});

test("a declaration leads to its source", () => {
  const installed = join(folder, "node_modules", "pulumi-conversation");
  const map = join(installed, "dist/sdk/index.d.ts.map");
  const { sources } = JSON.parse(readFileSync(map, "utf8"));
  expect(sources).toHaveLength(1);
  expect(existsSync(join(dirname(map), sources[0]))).toBe(true);
});

test.each(["cjs", "esm"])("a strict %s program compiles, and wrong combinations do not", (name) => {
  expect(run("typescript/bin/tsc", ["-p", name])).toBe("");
});

test.each([
  ["require", "cjs", 'console.log(Object.keys(require("pulumi-conversation")).join())'],
  [
    "import",
    "esm",
    'import { Account, Channel } from "pulumi-conversation"; console.log([Account.name, Channel.name].join())',
  ],
])("the package loads by %s", (_, name, source) => {
  const file = join(folder, name, "load.js");
  writeFileSync(file, source);
  const printed = execFileSync(process.execPath, [file], { encoding: "utf8" });
  expect(printed).toContain("Account");
  expect(printed).toContain("Channel");
});

test.each(["runtime", "emulator", "provider/v1"])("the entry point %s loads", (entry) => {
  const file = join(folder, "cjs", "entry.js");
  writeFileSync(file, `console.log(typeof require("pulumi-conversation/${entry}"))`);
  expect(execFileSync(process.execPath, [file], { encoding: "utf8" }).trim()).toBe("object");
});
