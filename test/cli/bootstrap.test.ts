import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { packageRoot } from "../../provider/kernel/package.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const script = join(packageRoot(), "cli/bootstrap.mjs");

const lockFiles = ["package-lock.json", "cli/node/package-lock.json"];

const ownNode = `cli/node/node_modules/node-${process.platform}-${process.arch}/bin/node`;

/** Stands for npm: notes how it was called, installs a Node, builds an entry that repeats its arguments. */
const npm = `
const { appendFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync, existsSync } = require("node:fs");
const [verb, ...more] = process.argv.slice(2);
const inFolder = more.some((option) => option.startsWith("--prefix="));
appendFileSync("npm-calls", verb + (inFolder ? " node" : "") + "\\n");
appendFileSync("npm-environment", Object.values(process.env).join("\\n"));
if (existsSync("npm-fails")) { console.error("the reason of npm"); process.exit(7); }
if (existsSync("npm-hangs")) { writeFileSync("npm-pid", String(process.pid)); setInterval(() => {}, 1000); return; }
if (verb === "ci" && !inFolder) {
  rmSync("node_modules", { recursive: true, force: true });
  mkdirSync("node_modules");
}
if (verb === "ci" && inFolder) {
  mkdirSync("${dirname(ownNode)}", { recursive: true });
  rmSync("${ownNode}", { force: true });
  symlinkSync(process.execPath, "${ownNode}");
}
if (verb === "run") {
  mkdirSync("dist/cli", { recursive: true });
  writeFileSync("dist/cli/entry.js", process.env.TEST_ENTRY ?? "console.log(JSON.stringify({ args: process.argv.slice(2), path: process.env.PATH, exec: process.argv0 })); process.exitCode = 5;");
}`;

const secretVariables = [
  "CONVERSATION_CLIENT_SECRET",
  "CONVERSATION_STAGING_CLIENT_SECRET",
  "CONVERSATION_REDIS_URL",
  "PULUMI_ACCESS_TOKEN",
  "PULUMI_CONFIG_PASSPHRASE",
];

const project = ({ isOlder = false } = {}) => {
  const root = temporaryFolder();
  for (const folder of ["cli/node", "provider"]) mkdirSync(join(root, folder), { recursive: true });
  copyFileSync(script, join(root, "cli/bootstrap.mjs"));
  for (const name of ["package.json", "tsconfig.base.json", ...lockFiles])
    writeFileSync(join(root, name), "{}");
  writeFileSync(join(root, "provider/a.ts"), "1");
  mkdirSync(join(root, "bin"));
  writeFileSync(join(root, "bin/npm-cli.js"), npm);
  const olderNode = join(root, "bin/older-node.cjs");
  writeFileSync(
    olderNode,
    'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } });',
  );
  const start = (entry = "", ...args: string[]) =>
    spawn(process.execPath, [join(root, "cli/bootstrap.mjs"), "cli/entry.js", ...args], {
      env: {
        ...process.env,
        ...(isOlder ? { NODE_OPTIONS: `--require ${olderNode}` } : {}),
        npm_execpath: join(root, "bin/npm-cli.js"),
        npm_node_execpath: process.execPath,
        ...Object.fromEntries(secretVariables.map((name) => [name, "canary-secret"])),
        ...(entry === "" ? {} : { TEST_ENTRY: entry }),
      },
    });
  const run = async (...args: string[]) => {
    const child = start("", ...args);
    const [out, err, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "close"),
    ]);
    return { code, out, err };
  };
  const log = join(root, "npm-calls");
  const calls = () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []);
  return { root, start, run, calls, forget: () => rmSync(log, { force: true }) };
};

test("a clean clone is installed, built and run, and the exit code passed on", async () => {
  const { root, run, calls } = project();
  const { code, out } = await run("--one", "two words");
  expect(calls()).toEqual(["ci", "run"]);
  expect(code).toBe(5);
  const reported = JSON.parse(out);
  expect(reported.args).toEqual(["--one", "two words"]);
  expect(reported.path.split(":").slice(0, 2)).toEqual([
    dirname(process.execPath),
    join(root, "node_modules/.bin"),
  ]);
  expect(reported.exec).toBe(process.execPath);
});

test("where Node is too old, a newer one is installed and used, once for each lock file", async () => {
  const { root, run, calls, forget } = project({ isOlder: true });
  const { code, out, err } = await run();
  expect(code, err).toBe(5);
  expect(calls()).toEqual(["ci", "ci node", "run"]);
  const reported = JSON.parse(out);
  expect(reported.path.split(":")[0]).toBe(join(root, "node_modules/.bin"));
  expect(reported.exec).toBe(join(root, "node_modules/.bin/node"));
  forget();
  await run();
  expect(calls()).toEqual([]);
  writeFileSync(join(root, "cli/node/package-lock.json"), '{ "changed": true }');
  await run();
  expect(calls()).toEqual(["ci", "ci node"]);
});

const source = (root: string) => join(root, "provider/a.ts");

test.each<readonly [string, (root: string) => void, readonly string[]]>([
  ["nothing new", () => undefined, []],
  [
    "another lock file",
    (root) => writeFileSync(join(root, "package-lock.json"), '{ "changed": true }'),
    ["ci", "run"],
  ],
  ["a changed source", (root) => writeFileSync(source(root), "2"), ["run"]],
  ["a new source", (root) => writeFileSync(join(root, "provider/b.ts"), ""), ["run"]],
  ["a removed source", (root) => rmSync(source(root)), ["run"]],
  ["a touched source", (root) => utimesSync(source(root), 1, 2e9), []],
  ["a generated file", (root) => writeFileSync(join(root, "provider/x.generated.ts"), ""), []],
])(
  "after %s a second run installs and builds only what that asks for",
  async (_, change, wanted) => {
    const { root, run, forget, calls } = project();
    await run();
    forget();
    change(root);
    expect((await run()).code).toBe(5);
    expect(calls()).toEqual(wanted);
  },
);

test("scripts of packages see no secret of an account or a stack", async () => {
  const { root, run } = project();
  await run();
  expect(readFileSync(join(root, "npm-environment"), "utf8")).not.toContain("canary-secret");
});

test("a failed installation shows what npm said, and is tried again", async () => {
  const { root, run, calls } = project();
  writeFileSync(join(root, "npm-fails"), "");
  const { code, err } = await run();
  expect(code).toBe(1);
  expect(err).toMatch(/the reason of npm\n\nnpm ci .* failed after \d+ s/);
  rmSync(join(root, "npm-fails"));
  expect((await run()).code).toBe(5);
  expect(calls()).toEqual(["ci", "ci", "run"]);
});

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "%s reaches the entry, which decides how to end",
  async (signal) => {
    const { start } = project();
    const child = start(
      `process.on("${signal}", () => process.exit(9)); setInterval(() => {}, 1000); console.log("ready");`,
    );
    await once(child.stdout, "data");
    child.kill(signal);
    expect(await once(child, "close")).toEqual([9, null]);
  },
);
