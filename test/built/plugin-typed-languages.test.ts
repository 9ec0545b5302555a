import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { release } from "../../cli/get-pulumi/get-pulumi.js";
import { packageRoot } from "../../provider/kernel/package.js";
import { packageSchema } from "../../provider/plugin/schema.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { languageHost } from "../support/language-hosts.js";
import { secretsIn } from "../support/left-behind.js";
import { pluginSettings } from "../support/plugin-delivery.js";

/*
 * The life of all six kinds by the plugin, and by generated code that a compiler checks: in TypeScript, and in Go
 * inline through Pulumi's Automation API.
 */

const secret = "canary-callback-password";
const root = packageRoot();
const execute = promisify(execFile);

const typescriptProgram = `
import * as pulumi from "@pulumi/pulumi";
import * as c from "@pulumi/conversation";

const description = process.env.DESCRIPTION;
const callbacks = new c.Authentication("callbacks", {
  description,
  basicAuth: { username: "hub", password: new pulumi.Config().requireSecret("callbackPassword") },
});
const role = {
  version: c.ClientApplicationRoleVersion.V3,
  callback: "https://bot.example.com/hub",
  notificationEmail: "ops@example.com",
  authentication: callbacks.id,
};
const application = new c.ClientApplication("application", {
  description,
  roles: [
    { ...role, name: c.ClientApplicationRoleName.CustomBot },
    { ...role, name: c.ClientApplicationRoleName.Customer },
  ],
});
const orders = new c.Participant("orders", {
  description,
  type: c.ParticipantType.CustomBot,
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

type Step = "up" | "refresh" | "destroy";

/** Makes the project's program, and gives what runs a step of it and returns what Pulumi printed. */
type Making = (
  project: EmulatedProject,
  sdk: string,
) => Promise<(step: Step, description: string) => Promise<string>>;

const makeTypescript: Making = async (project, sdk) => {
  const { folder } = project;
  const modules = join(folder, "node_modules");
  rmSync(join(modules, "@pulumi"));
  mkdirSync(join(modules, "@pulumi"));
  for (const name of ["@pulumi/pulumi", "@types", "undici-types"])
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  symlinkSync(sdk, join(modules, "@pulumi", "conversation"));
  const PATH = [join(root, "node_modules", ".bin"), project.environment.PATH].join(delimiter);
  // npm runs this script after it has installed the package.
  const env = { ...project.environment, PATH };
  await execute(process.execPath, [join("scripts", "postinstall.js")], { cwd: sdk, env });
  const compilerOptions = { strict: true, module: "nodenext", target: "es2022", types: ["node"] };
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions, files: ["index.ts"] }),
  );
  writeFileSync(join(folder, "index.ts"), typescriptProgram);
  await execute("tsc", ["--project", folder], { env });
  return (step, DESCRIPTION) => project.succeed([step, "--yes", "--skip-preview"], { DESCRIPTION });
};

const makeGo: Making = async ({ folder, environment }, sdk) => {
  const { main: _, ...settings } = pluginSettings(join(folder, "plugin"));
  writeFileSync(join(folder, "Pulumi.yaml"), JSON.stringify({ ...settings, runtime: "go" }));
  const generated = `${packageSchema().repository?.replace("https://", "")}/sdk/go`;
  const program = readFileSync(join(root, "test", "support", "go-program", "main.go"), "utf8");
  writeFileSync(join(folder, "main.go"), program.replace("generated.example/sdk/go", generated));
  const module = [
    ...["module shop", "go 1.26"],
    `require github.com/pulumi/pulumi/sdk/v3 v${release.version}`,
    ...[`require ${generated} v0.0.0`, `replace ${generated} => ${sdk}`],
  ];
  writeFileSync(join(folder, "go.mod"), module.join("\n"));
  // With Go's own caches. What runs for seconds is not worth the time for optimizing it.
  const flags = ["-mod=mod", "-trimpath", "-buildvcs=false", "-gcflags=all=-N -l"];
  const env = { ...environment, CGO_ENABLED: "0", GOWORK: "off", GOFLAGS: "" };
  await execute("go", ["build", ...flags, "-o", "shop", "."], { cwd: folder, env });
  return async (step, DESCRIPTION) => {
    const options = { cwd: folder, env: { ...environment, DESCRIPTION } };
    return (await execute(join(folder, "shop"), [step], options)).stdout;
  };
};

describe.each([
  ["nodejs", makeTypescript],
  ["go", makeGo],
] as const)("in %s", (language, make) => {
  let project: EmulatedProject | undefined;
  let run: Awaited<ReturnType<Making>>;
  let reason = "";

  beforeAll(async () => {
    const host = await languageHost(language);
    if ("reason" in host) {
      reason = host.reason;
      return;
    }
    const { PATH = "" } = host.environment;
    project = await emulatedProject("", {}, language === "go" ? { PATH } : {}, "plugin");
    // As `pulumi package add` generates it.
    const schema = { ...packageSchema(), meta: { supportPack: true } };
    writeFileSync(join(project.folder, "schema.json"), JSON.stringify(schema));
    const generate = ["package", "gen-sdk", "schema.json", "--language", language, "--local"];
    await project.succeed([...generate, "--out", "sdks"], { PATH });
    await project.succeed(["config", "set", "--secret", "callbackPassword", secret]);
    run = await make(project, join(project.folder, "sdks", language));
    // Go fetches and compiles Pulumi's SDK, once per release.
  }, 3_600_000);

  afterAll(() => project?.close());

  test("an account of all six kinds lives and goes", async (context) => {
    if (!project) return context.skip(reason);
    const kiosk = { type: "custom.kiosk", displayName: "By hand", icon: "aVZC" };
    const { id } = await project.byHand("POST", "/channels", kiosk);
    const [byHand = ""] = await project.writes();
    const printed: string[] = [];
    const step = async (name: Step, description: string, shown: RegExp): Promise<void> => {
      printed.push(await run(name, description));
      expect(printed.at(-1)).toMatch(shown);
    };
    const created = ["authentications", "clientapplications", "participants", "orchestrations"];

    await step("up", "before", /\+ 7 created/);
    const writes = [...created, "accounts"].map((name) => `POST /${name}`);
    expect((await project.writes()).sort()).toEqual(
      [...writes, byHand, "PUT /channels/{id}"].sort(),
    );
    expect(await project.objects("channels")).toMatchObject([{ id, displayName: "Kiosk" }]);
    const [shop] = await project.objects("accounts");
    expect(shop).toMatchObject({ chatConfigurations: { timeout: 30 } });

    const before = await project.writes();
    await step("up", "after", /~ 6 updated/);
    const updates = (await project.writes()).slice(before.length);
    const all = [...created, "channels", "accounts"];
    expect(updates.sort()).toEqual(all.map((name) => `PUT /${name}/{id}`).sort());
    for (const { description } of await project.objects()) expect(description).toMatch(/^after /);

    await project.byHand("PUT", `/channels/${id}`, { ...kiosk, description: "By hand" });
    await step("refresh", "after", /~ 1 updated\s+6 unchanged/);

    await step("destroy", "after", /- 7 deleted/);
    expect(await project.objects()).toEqual([]);
    expect(secretsIn(printed.join("\n") + project.state(), [secret])).toEqual([]);
  });
});
