import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { blocksIn, type CodeBlock } from "../docs/pages.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";

/** WRONG=1 makes every policy speak once. */
const program = `
const { Authentication, Account, Channel, ClientApplication, Orchestration, Participant } = require("pulumi-conversation");
const { Config } = require("@pulumi/pulumi");
const wrong = process.env.WRONG === "1";
const first = new Authentication("first", wrong
  ? { basicAuth: { username: "hub", password: new Config().require("password") } }
  : { oauth2: { tokenRequestUrl: "https://shop.test-company.com/token", method: "POST", accessTokenPath: "$.token",
      headers: { Accept: "application/json" }, payload: { secret: new Config().require("password") } } });
const application = (name, role) => new ClientApplication(name, { roles: [{
  name: role, version: "v3", authentication: first,
  callback: wrong ? "http://shop.test-company.com/messages" : "https://shop.test-company.com/messages",
  notificationEmail: wrong ? "ops@example.com" : "ops@test-company.com",
}] });
const [bot, customer] = [application("bot", "custom_bot"), application("customer", "customer")];
const participant = new Participant("orders", { type: "custom_bot", application: bot });
const channel = new Channel("web", { type: "custom.web", displayName: "Web", icon: "aVZC" });
const orchestration = new Orchestration("support", { applications: {
  botConfiguration: { bots: [{ application: bot, participant }] },
  customerConfiguration: { customer },
} });
new Account("shop", { address: "shop", channel, chatConfigurations: { orchestration, entryPoint: "1007" } }, { protect: !wrong });
`;

let project: EmulatedProject;

const shown = blocksIn("yaml", "json", "js").filter(({ page }) => page === "docs/policies.md");

const shownWith = (part: string): string =>
  shown.find(({ code }: CodeBlock) => code.includes(part))?.code ?? "";

/**
 * The pack of docs/policies.md. It is given as an executable that runs it, so that a Pulumi without a language host
 * for packs runs it, too.
 */
const writePack = (folder: string): void => {
  const pack = join(folder, "policies");
  const runner = join(pack, "run");
  mkdirSync(pack);
  const files = {
    "PulumiPolicy.yaml": shownWith("runtime: nodejs"),
    "package.json": shownWith('"main"'),
    "index.js": shownWith("PolicyPack"),
    "production.json": shownWith('"mandatory"'),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(pack, name), text);
  const script = `exec "${process.execPath}" "${require.resolve("@pulumi/pulumi/cmd/run-policy-pack")}" "$@" .`;
  writeFileSync(runner, `#!/bin/sh\ncd "${pack}" && ${script}\n`);
  chmodSync(runner, 0o755);
};

const withPack = ["--policy-pack", "policies/run"];
const withProduction = [...withPack, "--policy-pack-config", "policies/production.json"];

/** The policies that spoke, each with the resource it is about. */
const violations = (output: string): readonly string[] =>
  [...output.matchAll(/\[advisory\].*?\s([a-z-]+)\s+\((\S+?:\s\S+?)\)/g)]
    .map(([, name = "", resource = ""]) => `${name} ${resource.replace(/^.*[:/](?=\w+: )/, "")}`)
    .sort();

const violated = [
  "account-protected Account: shop",
  "https-callbacks ClientApplication: bot",
  "https-callbacks ClientApplication: customer",
  "no-basic-authentication Authentication: first",
  "no-clear-secrets Authentication: first",
  "notification-address ClientApplication: bot",
  "notification-address ClientApplication: customer",
].sort();

beforeAll(async () => {
  project = await emulatedProject(program);
  writePack(project.folder);
});
afterAll(() => project?.close());

test("each policy speaks in the preview of a program that breaks it, and stops nothing", async () => {
  await project.succeed(["config", "set", "password", "in-clear-for-all-to-read"]);
  const output = await project.succeed(["preview", ...withPack], { WRONG: "1" });
  expect(violations(output)).toEqual(violated);
  expect(output).not.toContain("in-clear-for-all");
});

test("a careful program is not bothered", async () => {
  await project.succeed(["config", "set", "--secret", "password", "in-clear-for-all-to-read"]);
  const output = await project.succeed(["preview", ...withPack]);
  expect(violations(output)).toEqual([]);
  expect(output).toContain("✅ conversation@v1.0.0");
});

test("a configuration says which domains are meant, and what stops a run", async () => {
  const up = ["up", "--yes", "--skip-preview", ...withProduction];
  expect(violations(await project.succeed(up))).toEqual([
    "notification-address ClientApplication: bot",
    "notification-address ClientApplication: customer",
  ]);
  const stopped = await project.pulumi(["preview", ...withProduction], {
    WRONG: "1",
  });
  expect([stopped.code === 0, stopped.output]).toEqual([
    false,
    expect.stringMatching(/\[mandatory\].*https-callbacks/),
  ]);
});
