import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { dump, load } from "js-yaml";
import { afterEach, expect, test } from "vitest";
import { packageRoot } from "../../provider/kernel/package.js";
import { packageSchema } from "../../provider/plugin/schema.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { guideCommands, guidePrograms } from "../support/guide-commands.js";
import { languageHosts } from "../support/language-hosts.js";
import { secretsIn } from "../support/left-behind.js";

/*
 * The plugin of a folder as its guide adds it, and generated code that a compiler checks. What the life cycle
 * guarantees is tested elsewhere: this is whether the plugin is found, and its code fits.
 */

const secret = "canary-callback-password";
const root = packageRoot();
const execute = promisify(execFile);

let project: EmulatedProject;
afterEach(() => project?.close());

test("the guide's commands add the plugin to a project in YAML, and its programs run", async (context) => {
  const hosts = languageHosts();
  if ("reason" in hosts) return context.skip(hosts.reason);
  project = await emulatedProject("", {}, hosts.environment);
  const file = join(project.folder, "Pulumi.yaml");
  writeFileSync(file, dump({ name: "shop", runtime: "yaml" }));
  const [add = ""] = guideCommands("plugin").filter((line) =>
    line.startsWith("pulumi package add"),
  );
  await project.succeed(add.split(" ").slice(1));
  await project.succeed(["config", "set", "--secret", "callbackPassword", secret]);
  const settings = Object(load(readFileSync(file, "utf8")));
  expect(settings.packages.conversation).toContain("plugin");
  for (const [guide, shown] of [
    ["plugin", /\+ 3 to create/],
    ["../_index", /\+ 2 to create/],
  ] as const) {
    const [program = ""] = guidePrograms(guide, "yaml");
    writeFileSync(file, dump({ ...settings, ...Object(load(program)) }));
    expect(await project.succeed(["preview"])).toMatch(shown);
  }
});

const program = `
import * as pulumi from "@pulumi/pulumi";
import * as c from "@pulumi/conversation";

const description = process.env.DESCRIPTION;
const callbacks = new c.Authentication("callbacks", {
  description,
  basicAuth: { username: "hub", password: new pulumi.Config().requireSecret("callbackPassword") },
});
const role = {
  version: "v3",
  callback: "https://bot.example.com/hub",
  notificationEmail: "ops@example.com",
  authentication: callbacks.id,
};
const application = new c.ClientApplication("application", {
  description,
  roles: [
    { ...role, name: "custom_bot" },
    { ...role, name: "customer" },
  ],
});
const orders = new c.Participant("orders", {
  description,
  type: "custom_bot",
  application: application.id,
});
// The guide says that this does not compile.
// @ts-expect-error
const resource: c.ParticipantArgs["application"] = application;
const kiosk = new c.Channel("kiosk", {
  adopt: "true",
  description,
  type: "custom.kiosk",
  displayName: "Kiosk",
  icon: "aVZCT1J3MEtHZ28=",
});
const flow = new c.Orchestration("flow", {
  description,
  applications: {
    botConfiguration: { bots: [{ application: application.id, participant: orders.id }] },
    customerConfiguration: { customer: application.id },
  },
});
new c.Account("shop", {
  description,
  address: "shop-web",
  channel: kiosk.id,
  chatConfigurations: { orchestration: flow.id, entryPoint: "1007", timeout: 30 },
});
`;

/** Generates the package as `pulumi package add` does, installs it, and compiles the program with it. */
const compileProgram = async (PATH: string): Promise<void> => {
  const { folder, environment } = project;
  const schema = { ...packageSchema(), meta: { supportPack: true } };
  writeFileSync(join(folder, "schema.json"), JSON.stringify(schema));
  const generate = ["package", "gen-sdk", "schema.json", "--language", "nodejs", "--local"];
  await project.succeed([...generate, "--out", "sdks"], { PATH });
  const [modules, sdk] = [join(folder, "node_modules"), join(folder, "sdks", "nodejs")];
  rmSync(join(modules, "@pulumi"));
  mkdirSync(join(modules, "@pulumi"));
  for (const name of ["@pulumi/pulumi", "@types", "undici-types"])
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  symlinkSync(sdk, join(modules, "@pulumi", "conversation"));
  const bin = join(root, "node_modules", ".bin");
  const env = { ...environment, PATH: [bin, environment.PATH].join(delimiter) };
  // npm runs this script after it has installed the package.
  await execute(process.execPath, [join("scripts", "postinstall.js")], { cwd: sdk, env });
  const compilerOptions = { strict: true, module: "nodenext", target: "es2022", types: ["node"] };
  const tsconfig = JSON.stringify({ compilerOptions, files: ["index.ts"] });
  writeFileSync(join(folder, "tsconfig.json"), tsconfig);
  writeFileSync(join(folder, "index.ts"), program);
  await execute("tsc", ["--project", folder], { env });
};

test("an account of all six kinds lives and goes by the generated code", async (context) => {
  const hosts = languageHosts();
  if ("reason" in hosts) return context.skip(hosts.reason);
  project = await emulatedProject("", {}, {}, "plugin");
  await project.succeed(["config", "set", "--secret", "callbackPassword", secret]);
  await compileProgram(hosts.environment.PATH);
  const kiosk = { type: "custom.kiosk", displayName: "By hand", icon: "aVZC" };
  const { id } = await project.byHand("POST", "/channels", kiosk);
  const [byHand = ""] = await project.writes();
  const printed: string[] = [];
  const step = async (name: string, DESCRIPTION: string, shown: RegExp): Promise<void> => {
    printed.push(await project.succeed([name, "--yes", "--skip-preview"], { DESCRIPTION }));
    expect(printed.at(-1)).toMatch(shown);
  };
  const created = ["authentications", "clientapplications", "participants", "orchestrations"];

  await step("up", "before", /\+ 7 created/);
  const writes = [...created, "accounts"].map((name) => `POST /${name}`);
  expect((await project.writes()).sort()).toEqual([...writes, byHand, "PUT /channels/{id}"].sort());
  expect(await project.objects("channels")).toMatchObject([{ id, displayName: "Kiosk" }]);

  const before = await project.writes();
  await step("up", "after", /~ 6 updated/);
  const updates = (await project.writes()).slice(before.length);
  const all = [...created, "channels", "accounts"];
  expect(updates.sort()).toEqual(all.map((name) => `PUT /${name}/{id}`).sort());
  for (const { description } of await project.objects()) expect(description).toMatch(/^after /);

  await step("destroy", "after", /- 7 deleted/);
  expect(await project.objects()).toEqual([]);
  expect(secretsIn(printed.join("\n") + project.state(), [secret])).toEqual([]);
});
