import { execFileSync, spawnSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
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
    copyFileSync(join(root, "test", "types", "program.ts"), join(folder, name, "program.ts"));
    copyFileSync(join(root, "test", "types", "runtime.ts"), join(folder, name, "runtime.ts"));
  }
  const include = ["cjs", "esm"];
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include }));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("publint has nothing to say, and the package keeps to its size", async () => {
  const { messages } = await publint({ pkgDir: root, pack: false });
  expect(messages).toEqual([]);
  expect(statSync(join(folder, packed)).size).toBeLessThan(1_425_000);
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

test("strict programs compile, CommonJS and ES modules, and wrong combinations do not", () => {
  // In one run, which reads and checks the package's types once.
  const listed = run("typescript/bin/tsc", ["-p", ".", "--listFiles"]).split("\n");
  const own = listed.filter((file) => /[\\/](cjs|esm)[\\/]\w+\.ts$/.test(file));
  expect(own).toHaveLength(4);
  expect(listed.filter((line) => line.includes("error TS"))).toEqual([]);
});

test("a compiler's error about a wrong sender names those that are right", () => {
  const [right, wrong] = ["custom_agent", "customer"].map(
    (sender) =>
      `hub.messages.send({ type: "agent.join", sender: "${sender}", conversation: "c" });`,
  );
  const program = `import { connect } from "pulumi-conversation/runtime";\nconst hub = connect({});\n${right}\n${wrong}\n`;
  mkdirSync(join(folder, "sender"));
  writeFileSync(join(folder, "sender", "sender.ts"), program);
  const settings = { compilerOptions: { ...compilerOptions, skipLibCheck: true } };
  writeFileSync(join(folder, "sender", "tsconfig.json"), JSON.stringify(settings));
  const args = [join(modules, "typescript/bin/tsc"), "-p", "sender"];
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  expect(stdout.match(/error TS/g)).toHaveLength(1);
  expect(stdout).toContain('"platform_agent" | "custom_agent"');
  expect(stdout).not.toContain("SendersOf");
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

const address = "redis://:hunter2@127.0.0.1:1";

test.each([
  ["redisMemory", `require("pulumi-conversation/runtime").redisMemory({ url, name: "bot" })`],
  [
    "connect with redisUrl",
    `require("pulumi-conversation/runtime").connect({ baseUrl: "http://127.0.0.1:1/v3", tokenUrl: "http://127.0.0.1:1/token", clientId: "a", clientSecret: "b" }, { environment: { CONVERSATION_REDIS_URL: url } })`,
  ],
])("%s without ioredis installed fails at the start, with what to install", (_, call) => {
  const file = join(folder, "cjs", "without-peer.js");
  writeFileSync(file, `const url = ${JSON.stringify(address)};\n${call};\nconsole.log("went on");`);
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], { encoding: "utf8" });
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toContain("ioredis is not installed. To install it, run: npm install ioredis");
  expect(stderr).not.toContain("hunter2");
});

test("the policies without @pulumi/policy fail with what to install", () => {
  const alone = mkdtempSync(join(tmpdir(), "conversation-alone-"));
  try {
    const installed = join("node_modules", "pulumi-conversation");
    cpSync(join(folder, installed), join(alone, installed), { recursive: true });
    writeFileSync(join(alone, "pack.js"), `require("pulumi-conversation/policies");`);
    const { status, stderr } = spawnSync(process.execPath, ["pack.js"], {
      cwd: alone,
      encoding: "utf8",
    });
    expect(status).toBe(1);
    expect(stderr).toContain(
      "@pulumi/policy is not installed. To install it, run: npm install @pulumi/policy",
    );
  } finally {
    rmSync(alone, { recursive: true, force: true });
  }
});
