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

const run = (
  place: readonly string[],
  env: NodeJS.ProcessEnv = {},
  text = program,
  args: readonly string[] = [],
) => {
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
    execFileSync(process.execPath, [join(target, "index.js"), ...args], {
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

/** Modules that are loaded only once somebody asks them for something: which one it is, its files, and a question. */
const onDemand = [
  [
    "the resolver of packages",
    "@npmcli/arborist",
    "arborist",
    "new loaded({ path: __dirname }) instanceof loaded.Arborist",
  ],
  [
    "the form of a package file",
    "normalize-package-data",
    "normalize-package-data",
    "(loaded({ name: 'x', version: '1.0.0' }), true)",
  ],
  [
    "the compiler",
    "@pulumi/pulumi/typescript-shim",
    "typescript.js",
    "'forEachChild' in loaded && loaded.version.length > 0",
  ],
  [
    "running Pulumi from a program",
    "@pulumi/pulumi/automation",
    "/automation/",
    "Object.keys({ ...loaded }).includes('LocalWorkspace')",
  ],
  [
    "traces",
    "@pulumi/pulumi/cmd/run/tracing",
    "sdk-trace-node",
    "typeof loaded.start === 'function'",
  ],
] as const;

test.each(onDemand)(
  "%s: loaded only once somebody asks it, and the real one then",
  (_, name, files, question) => {
    const asking = `
const modules = () => Object.keys(require.cache).filter((path) => path.includes("${files}")).length;
const pulumi = require("@pulumi/pulumi");
const name = "${name}";
const loaded = require(name);
const before = modules();
const isReal = ${question};
console.log(JSON.stringify({
  computes: typeof pulumi.runtime.computeCodePaths, wasThere: before > 1, isReal, isThere: loaded !== require(name),
}));`;
    expect(run(ofPrograms, {}, asking)).toEqual({
      ...{ computes: "function", wasThere: false, isReal: true, isThere: true },
    });
  },
);

test("a function of a program is serialized, and a program can run Pulumi, as without any of this", () => {
  const using = `
const pulumi = require("@pulumi/pulumi");
const word = "captured";
pulumi.runtime.serializeFunction(() => word).then(({ text }) => console.log(JSON.stringify({
  captures: text.includes("captured"), runs: typeof pulumi.automation.LocalWorkspace.createStack,
})));`;
  expect(run(ofPrograms, {}, using)).toEqual({ captures: true, runs: "function" });
});

test("the SDK's spans go nowhere, and with --tracing the tracer is the SDK's own", () => {
  const tracing = `
const tracing = require("@pulumi/pulumi/cmd/run/tracing");
const span = tracing.newSpan("x");
span.setAttribute("a", 1);
span.addEvent("b");
span.end();
console.log(JSON.stringify(Object.keys(require.cache).some((path) => path.includes("sdk-trace-node"))));`;
  expect(run(ofPrograms, {}, tracing)).toBe(false);
  expect(run(ofPrograms, {}, tracing, ["--tracing=http://127.0.0.1:1"])).toBe(true);
});
