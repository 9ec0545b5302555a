import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { frugalRuns } from "../../provider/pulumi-cli/pulumi-cli.js";

const root = join(__dirname, "..", "..");
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** What Pulumi's SDK notes for a promise, and what an error shows, once a compiler formats all traces. */
const program = `
const debuggable = require(${JSON.stringify(join(root, "node_modules/@pulumi/pulumi/runtime/debuggable.js"))});
Error.prepareStackTrace = (error, sites) => error.message + " formatted " + sites.length;
setImmediate(() => {
  const promise = Promise.resolve();
  void debuggable.debuggablePromise(promise, "registering");
  console.log(JSON.stringify({
    promise: promise._debugStackTrace, error: new Error("failed").stack,
    given: globalThis.given,
  }));
});`;

const ofPrograms = ["@pulumi", "pulumi", "cmd", "run"];

const run = (place: readonly string[], env: NodeJS.ProcessEnv = {}, text = program) => {
  const folder = mkdtempSync(join(tmpdir(), "conversation-frugal ü-"));
  folders.push(folder);
  const target = join(folder, ...place);
  mkdirSync(target, { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(target, "index.js"), text);
  const given = join(folder, "given.js");
  writeFileSync(given, "globalThis.given = true;");
  const NODE_OPTIONS = `--require "${given}"`;
  // The built script: what runs here is not compiled.
  const options = frugalRuns({ NODE_OPTIONS }).NODE_OPTIONS.replace(
    join(root, "provider"),
    join(root, "dist", "provider"),
  );
  return JSON.parse(
    execFileSync(process.execPath, [join(target, "index.js")], {
      env: { ...process.env, ...env, NODE_OPTIONS: options },
      encoding: "utf8",
    }),
  );
};

test("a program on a copy takes no traces of promises, but those of errors, and keeps its NODE_OPTIONS", () => {
  expect(run(ofPrograms)).toMatchObject({
    promise: " formatted 0",
    error: expect.stringMatching(/^failed formatted \d+$/),
    given: true,
  });
});

test("traces of promises stay where a person looks for leaks, and in processes of others", () => {
  const formatted = { promise: expect.stringMatching(/formatted [1-9]/) };
  expect(run(ofPrograms, { PULUMI_DEBUG_PROMISE_LEAKS: "1" })).toMatchObject(formatted);
  expect(run(["somewhere", "else"])).toMatchObject(formatted);
});

test("the resolver of packages is loaded only once somebody asks it, and is the real one then", () => {
  const resolver = `
const modules = () => Object.keys(require.cache).filter((path) => path.includes("arborist")).length;
const { runtime } = require("@pulumi/pulumi");
const before = modules();
const Resolver = require("@npmcli/arborist");
const made = new Resolver({ path: __dirname });
const isReal = made instanceof Resolver.Arborist && made instanceof require("@npmcli/arborist");
console.log(JSON.stringify({ computes: typeof runtime.computeCodePaths, before, isReal, more: modules() > 20 }));`;
  expect(run(ofPrograms, {}, resolver)).toEqual({
    ...{ computes: "function", before: 1, isReal: true, more: true },
  });
});
