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
import { afterEach, expect, test } from "vitest";
import type { RehearsalFromEmpty } from "../../cli/rehearse/from-empty.js";
import type { Rehearsal } from "../../cli/rehearse/rehearsal-schema.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";

let project: EmulatedProject | undefined;

afterEach(async () => {
  await project?.close();
  project = undefined;
});

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

const programs = {
  "a CommonJS program": {
    "index.js": `
const { appendFileSync } = require("node:fs");
const pulumi = require("@pulumi/pulumi");
const settings = require("@pulumi/pulumi/runtime/settings");
const c = require("pulumi-conversation");
${asking}`,
  },
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

const start = async (files: Readonly<Record<string, string>>) => {
  const opened = await emulatedProject("");
  project = opened;
  const effectsFile = join(opened.folder, "effects.txt");
  for (const [name, text] of Object.entries(files)) writeFileSync(join(opened.folder, name), text);
  const environment = { EFFECTS: effectsFile };
  return {
    project: opened,
    environment,
    json: async (command: string, ...args: readonly string[]) => {
      const { code, output, errors } = await opened.tool([command, "--json", ...args], environment);
      if (output === "") throw new Error(errors);
      return { code, output, errors };
    },
    /** What the program did since this was asked last. */
    effects: (): readonly string[] => {
      const text = existsSync(effectsFile) ? readFileSync(effectsFile, "utf8") : "";
      rmSync(effectsFile, { force: true });
      return [...new Set(text.split("\n").filter(Boolean))].sort();
    },
  };
};

test.each(Object.entries(programs))(
  "a rehearsal of %s does nothing of what it guards with isDryRun, an update does",
  async (_, files) => {
    const { project, environment, json, effects } = await start(files);
    const rehearsed = await json("rehearse");
    const { outcome }: Rehearsal = JSON.parse(rehearsed.output);
    expect(outcome).toMatchObject({ passes: true, refusals: [] });
    expect(outcome.steps.map(({ kind, operation }) => `${operation} ${kind}`)).toEqual([
      ...["create Authentication", "create Channel"],
    ]);
    expect(effects()).toEqual([]);
    await project.succeed(["up", "--yes", "--skip-preview"], environment);
    expect(effects()).toEqual(everyWay);
    if (files !== programs["a CommonJS program"]) return;

    // The rule does not depend on the program: one of them shows it for the other ways to rehearse.
    const anew: RehearsalFromEmpty = JSON.parse((await json("rehearse", "--from-empty")).output);
    expect(anew.outcome).toMatchObject({ passes: true, refusals: [] });
    const again = await json("rehearse", "--destroy", "--", "--run-program");
    const { outcome: destroyed }: Rehearsal = JSON.parse(again.output);
    expect(destroyed).toMatchObject({ passes: true });
    expect(effects()).toEqual([]);
    // With --run-effects the program is run as it is, and that is said.
    for (const more of [[], ["--from-empty"]]) {
      const { output, errors } = await json("rehearse", "--run-effects", ...more);
      const { notes }: Pick<Rehearsal, "notes"> = JSON.parse(output);
      expect(effects()).toEqual(everyWay);
      expect(notes).toContainEqual(
        expect.stringContaining("did not see a dry run (--run-effects)"),
      );
      expect(errors).toContain("Warning: the program sees a real update");
    }
  },
);

test("a program whose SDK cannot be made to show a dry run is not rehearsed", async () => {
  const { project, environment, effects } = await start(programs["a CommonJS program"]);
  // A checkout of the SDK that is linked into the project, under a name of its own.
  const packages = join(__dirname, "..", "..", "node_modules");
  const own = join(project.folder, "node_modules", "@pulumi");
  const checkout = join(project.folder, "checkout", "sdk");
  cpSync(join(packages, "@pulumi", "pulumi"), checkout, { recursive: true });
  symlinkSync(packages, join(project.folder, "checkout", "node_modules"));
  rmSync(own);
  mkdirSync(own);
  symlinkSync(checkout, join(own, "pulumi"));
  for (const more of [[], ["--from-empty"]]) {
    const { code, errors } = await project.tool(["rehearse", ...more], environment);
    expect(errors).toContain("Nothing was rehearsed: the program would not see a dry run");
    expect({ code, effects: effects() }).toEqual({ code: 1, effects: [] });
  }
});
