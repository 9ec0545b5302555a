import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { dryRunVariable } from "../../cli/rehearse/dry-run.js";
import type { Rehearsal } from "../../cli/rehearse/rehearsal-schema.js";
import { preloading } from "../../provider/pulumi-cli/pulumi-cli.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { certain } from "../support/rehearsed-program.js";

let project: EmulatedProject;
let effectsFile: string;

beforeAll(async () => {
  project = await emulatedProject("");
  effectsFile = join(project.folder, "effects.txt");
});

afterAll(() => project?.close());

/** Each way in which a program asks for a dry run, at each time at which it can. */
const asking = `
const effect = (name, isDryRun) => {
  if (!isDryRun) appendFileSync(process.env.EFFECTS, name + "\\n");
};
effect("runtime", pulumi.runtime.isDryRun());
effect("own module", settings.isDryRun());
const { isDryRun } = pulumi.runtime;
effect("function", isDryRun());
setTimeout(() => effect("later", isDryRun()), 50);
process.on("beforeExit", () => effect("before the end", isDryRun()));
class Group extends pulumi.ComponentResource {
  constructor() {
    super("shop:Group", "group");
    effect("component", pulumi.runtime.isDryRun());
    this.auth = new c.Authentication("auth", { basicAuth: { username: "hub", password: "pw" } }, { parent: this });
    this.registerOutputs({ auth: this.auth.id });
  }
}
const { auth } = new Group();
auth.id.apply(() => effect("apply", pulumi.runtime.isDryRun()));
pulumi.output(1).apply(isDryRun).apply((answer) => effect("callback", answer));
const elsewhere = (name) =>
  \`if (!require("@pulumi/pulumi").runtime.isDryRun()) require("fs").appendFileSync(process.env.EFFECTS, "\${name}\\\\n")\`;
process.getBuiltinModule("child_process").execFileSync(process.execPath, ["-e", elsewhere("child process")]);
new (process.getBuiltinModule("worker_threads").Worker)(elsewhere("worker"), { eval: true });
// What the service leaves out is known after an update: the next one is made with it.
const displayName = pulumi.all([auth.id, auth.description]).apply(([id, text]) => id.slice(0, 4) + (text ?? "-none"));
new c.Channel("web", { type: "custom.web", displayName, icon: "aVZC" });
`;

const commonJs = {
  "Pulumi.yaml": "name: shop\nruntime: nodejs\nmain: index.js\n",
  "package.json": '{ "name": "shop", "main": "index.js" }',
  "index.js": `
const { appendFileSync } = require("node:fs");
const pulumi = require("@pulumi/pulumi");
const settings = require("@pulumi/pulumi/runtime/settings");
const c = require("pulumi-conversation");
${asking}`,
};

const otherFormats = {
  "an ESM program": {
    "package.json": '{ "name": "shop", "type": "module", "main": "index.js" }',
    "index.js": `
import { appendFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import * as settings from "@pulumi/pulumi/runtime/settings.js";
import * as c from "pulumi-conversation";
${asking}`,
  },
  "a TypeScript program": {
    "Pulumi.yaml": "name: shop\nruntime: nodejs\nmain: index.ts\n",
    "package.json": commonJs["package.json"],
    "tsconfig.json": JSON.stringify({
      compilerOptions: { module: "nodenext", target: "es2022", strict: true, skipLibCheck: true },
      files: ["index.ts"],
    }),
    "index.ts": `
import { appendFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import * as settings from "@pulumi/pulumi/runtime/settings";
import * as c from "pulumi-conversation";
${asking
  .replace("constructor", "readonly auth: c.Authentication; constructor")
  .replace("(name, isDryRun)", "(name: string, isDryRun: boolean)")
  .replace("(name) =>", "(name: string) =>")
  .replace("process.env.EFFECTS", 'process.env.EFFECTS ?? ""')}`,
  },
} satisfies Record<string, Record<string, string>>;

const everyWay = [
  ...["apply", "before the end", "callback", "child process", "component", "function", "later"],
  ...["own module", "runtime", "worker"],
];

const write = (files: Readonly<Record<string, string>>): void => {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project.folder, name), text);
};

/** What the program did since this was asked last. */
const effects = (): readonly string[] => {
  const text = existsSync(effectsFile) ? readFileSync(effectsFile, "utf8") : "";
  rmSync(effectsFile, { force: true });
  return [...new Set(text.split("\n").filter(Boolean))].sort();
};

const rehearse = async (...args: readonly string[]) => {
  const all = ["rehearse", "--json", ...args];
  const { output, errors } = await project.tool(all, { EFFECTS: effectsFile });
  if (output === "") throw new Error(errors);
  const { outcome, notes }: Pick<Rehearsal, "outcome" | "notes"> = JSON.parse(output);
  return { outcome, notes, errors };
};

const up = (environment: Readonly<Record<string, string>> = {}) =>
  project.succeed(["up", "--yes", "--skip-preview"], { EFFECTS: effectsFile, ...environment });

test("a rehearsal does nothing of what the program guards with isDryRun, an update does", async () => {
  write(commonJs);
  const { outcome } = await rehearse(...certain);
  expect(outcome).toMatchObject({ passes: true, refusals: [] });
  expect(outcome.steps.map(({ kind, operation }) => `${operation} ${kind}`)).toEqual([
    ...["create Authentication", "create Channel"],
  ]);
  expect(effects()).toEqual([]);
  await up();
  expect(effects()).toEqual(everyWay);
  const destroyed = await rehearse("--destroy", ...certain, "--", "--run-program");
  expect(destroyed.outcome).toMatchObject({ passes: true });
  expect(effects()).toEqual([]);
});

test("with --run-effects the program is run as it is, and that is said", async () => {
  write(commonJs);
  const { notes, errors } = await rehearse("--run-effects", "--from-empty");
  expect(effects()).toEqual(everyWay);
  expect(notes).toContainEqual(expect.stringContaining("did not see a dry run (--run-effects)"));
  expect(errors).toContain("Warning: the program sees a real update");
});

/** What a rehearsal loads into a program before all else. */
const dryRun = join(__dirname, "..", "..", "dist", "cli", "rehearse", "dry-run.js");

test.each(Object.entries(otherFormats))(
  "%s sees a dry run, too, where the engine makes an update",
  async (_, files) => {
    write(files);
    const readFile = join(project.folder, "read");
    await up({
      NODE_OPTIONS: preloading(dryRun, project.environment.NODE_OPTIONS),
      [dryRunVariable]: readFile,
    });
    expect({ isRead: existsSync(readFile), effects: effects() }).toEqual({
      ...{ isRead: true, effects: [] },
    });
    rmSync(readFile);
    await up();
    expect(effects()).toEqual(everyWay);
  },
);

test("a program whose SDK cannot be made to show a dry run is not rehearsed", async () => {
  write(commonJs);
  // A checkout of the SDK that is linked into the project, under a name of its own.
  const packages = join(__dirname, "..", "..", "node_modules");
  const own = join(project.folder, "node_modules", "@pulumi");
  const checkout = join(project.folder, "checkout", "sdk");
  const isLoaded = (file: string) => !/\.(d\.ts|map)$/.test(file);
  cpSync(join(packages, "@pulumi", "pulumi"), checkout, { recursive: true, filter: isLoaded });
  symlinkSync(packages, join(project.folder, "checkout", "node_modules"));
  rmSync(own);
  mkdirSync(own);
  symlinkSync(checkout, join(own, "pulumi"));
  const { code, errors } = await project.tool(["rehearse"], { EFFECTS: effectsFile });
  expect(errors).toContain("Nothing was rehearsed: the program would not see a dry run");
  expect({ code, effects: effects() }).toEqual({ code: 1, effects: [] });
});
