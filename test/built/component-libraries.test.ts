import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject as Json } from "../../provider/kernel/json.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";

/** A library with a component and an account. */
const library = `
const pulumi = require("@pulumi/pulumi");
const c = require("pulumi-conversation");
const party = { callback: "https://x.example.com/", notificationEmail: "ops@example.com" };
exports.Shop = class extends pulumi.ComponentResource {
  constructor(name, { authentication }) {
    super("my:index:Shop", name);
    const roles = [{ ...party, name: "custom_bot", version: "v3", authentication }];
    this.application = new c.ClientApplication("bot", { roles }, { parent: this });
  }
};
exports.accountOf = (channel, agent) => new c.ConversationAccount("whole", { address: "whole", channel, customer: party, agent, chatConfigurations: { entryPoint: "1007" } });
exports.copy = c;
`;

const program = `
const c = require("pulumi-conversation");
const { Shop, accountOf, copy } = require("of-a-library");
if (copy.Channel === c.Channel) throw new Error("one copy of the package only");
const authentication = new c.Authentication("auth", { basicAuth: { username: "hub", password: "p" } });
const shop = new Shop("shop", { authentication });
const channel = new c.Channel("web", { type: "custom.web", displayName: "Web", icon: "aVZC" });
const account = accountOf(channel, shop.application);
const theirs = account.channel === channel && account.applications.agent === shop.application;
exports.theirs = theirs;
`;

/** A package with a component for programs in any language. */
const componentPackage = `
const pulumi = require("@pulumi/pulumi");
const c = require("pulumi-conversation");
class Kiosk extends pulumi.ComponentResource {
  constructor(name, opts) {
    super("kiosks:index:Kiosk", name, {}, opts);
    new c.Channel(name, { type: "custom." + name, displayName: name, icon: "aVZC" }, { parent: this });
  }
}
const construct = async (name, type, inputs, opts) => ({ urn: new Kiosk(name, opts).urn, state: {} });
pulumi.provider.main({ version: "1.0.0", construct }, process.argv.slice(2));
`;

const kiosks = `
const { ComponentResource } = require("@pulumi/pulumi");
for (const name of ["one", "two", "three"]) new ComponentResource("kiosks:index:Kiosk", name, {}, {}, true);
`;

let project: EmulatedProject;

/** A copy of the package as a package manager puts one beside a library that wants another release. */
const installCopy = (folder: string): void => {
  const root = join(__dirname, "..", "..");
  const installed = join(folder, "node_modules", "pulumi-conversation");
  mkdirSync(installed, { recursive: true });
  for (const part of ["dist/sdk", "dist/provider"]) {
    cpSync(join(root, part), join(installed, part), { recursive: true });
  }
  const manifest: Json = { name: "pulumi-conversation", version: "0.0.9" };
  writeFileSync(
    join(installed, "package.json"),
    JSON.stringify({ ...manifest, main: "./dist/sdk/index.js" }),
  );
};

const installLibrary = (project: EmulatedProject): void => {
  const folder = join(project.folder, "node_modules", "of-a-library");
  installCopy(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "of-a-library" }));
  writeFileSync(join(folder, "index.js"), library);
};

const installComponentPackage = ({ folder }: EmulatedProject): void => {
  const place = join(folder, "kiosks");
  mkdirSync(place);
  writeFileSync(join(place, "kiosk.js"), componentPackage);
  const start = `#!/bin/sh\nexec "${process.execPath}" "${join(place, "kiosk.js")}" "$@"\n`;
  writeFileSync(join(place, "pulumi-resource-kiosks"), start, { mode: 0o755 });
  const settings: Json = { name: "shop", runtime: "nodejs", main: "kiosks.js" };
  const plugins = { providers: [{ name: "kiosks", path: place }] };
  writeFileSync(join(folder, "Pulumi.yaml"), JSON.stringify({ ...settings, plugins }));
  writeFileSync(join(folder, "kiosks.js"), kiosks);
};

const resources = () => project.held().resources;
const ownerships = () => resources().filter(({ type }) => type.endsWith(":Ownership"));

beforeAll(async () => {
  project = await emulatedProject(program);
  installLibrary(project);
});

afterAll(() => project?.close());

test("a first up of one target alone needs the ownership as a second one", async () => {
  const target = ["--target", "**conversation:Channel::web"];
  const ownership = ["--target", "**conversation:Ownership::ownership"];
  const alone = await project.pulumi(["up", "--yes", "--skip-preview", ...target]);
  expect(alone.code).not.toBe(0);
  expect(alone.output).toContain("conversation:Ownership::ownership' which");
  await project.succeed(["up", "--yes", "--skip-preview", ...target, ...ownership]);
  expect(resources().map(({ urn }) => urn.split("::").at(-1))).toContain("web");
});

test("two copies of the package set up one stack, with one ownership, and refer to each other", async () => {
  const output = await project.succeed(["up", "--yes", "--skip-preview"]);
  expect(output).toMatch(/\+ \d+ created/);
  expect(output).toMatch(/theirs\s*: true/);
  expect(ownerships()).toHaveLength(1);
  const owners = resources().flatMap(({ outputs }) => (outputs?.owner ? [outputs.owner] : []));
  const [ownership] = ownerships();
  expect(owners.length).toBeGreaterThan(4);
  for (const owner of owners) expect(owner).toContain("shop/prod/");
  expect(ownership?.urn).toMatch(/conversation:Ownership::ownership$/);
});

test("everything is removed again", async () => {
  await project.succeed(["destroy", "--yes", "--skip-preview"]);
  expect(resources()).toEqual([]);
  expect(await project.objects()).toEqual([]);
});

test("components of a package for programs in any language share one ownership", async () => {
  installComponentPackage(project);
  await project.succeed(["up", "--yes", "--skip-preview"]);
  expect(ownerships()).toHaveLength(1);
  expect(await project.objects("channels")).toHaveLength(3);
  await project.succeed(["destroy", "--yes", "--skip-preview"]);
  expect(await project.objects()).toEqual([]);
});
