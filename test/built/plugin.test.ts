import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startEmulator } from "pulumi-conversation/emulator";
import { afterEach, expect, test } from "vitest";
import type { JsonObject } from "../../provider/kernel/json.js";
import { pluginToken, providerToken } from "../../provider/kernel/type-tokens.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { EmulatorControl } from "../support/emulator-control.js";
import { descendants } from "../support/processes.js";

let project: EmulatedProject;
afterEach(() => project?.close());

const open = async (program: string, options: Parameters<typeof emulatedProject>[1] = {}) => {
  project = await emulatedProject(program, options, {}, "plugin");
};

interface Held {
  readonly urn: string;
  readonly type: string;
  readonly id: string;
  readonly inputs: JsonObject;
  readonly outputs: JsonObject;
}

const held = (): readonly Held[] => JSON.parse(project.state()).checkpoint.latest?.resources ?? [];

const ownerships = (): readonly unknown[] =>
  held()
    .flatMap(({ type, inputs }) => (type === providerToken ? [inputs.ownership] : []))
    .toSorted();

const up = ["up", "--yes", "--skip-preview"] as const;

const channel = `
const c = require("pulumi-conversation");
const pulumi = require("@pulumi/pulumi");
const web = (name, more, opts) => new c.Channel(name, { type: "custom." + name, displayName: "Web", icon: "aVZC", ...more }, opts);
`;

test("two explicit providers in one program serve two tenants, each with its own ownership", async () => {
  await open(`${channel}
    const us = JSON.parse(process.env.US);
    const secret = { ...us, clientSecret: pulumi.secret(us.clientSecret) };
    const provider = new c.Provider("us", secret);
    web("web");
    web("far", {}, { provider });`);
  const other = await startEmulator();
  try {
    const { baseUrl, tokenUrl, clientId, clientSecret } = other;
    const environment = { US: JSON.stringify({ baseUrl, tokenUrl, clientId, clientSecret }) };
    await project.succeed(up, environment);
    const kept = ownerships();
    expect(new Set(kept).size).toBe(2);
    const there = new EmulatorControl(other);
    expect(await there.objects("channels")).toMatchObject([{ type: "custom.far" }]);
    expect(await project.objects("channels")).toMatchObject([{ type: "custom.web" }]);
    expect(project.state()).not.toContain(clientSecret);
    await project.succeed([...up, "--expect-no-changes"], environment);
    expect(ownerships()).toEqual(kept);
  } finally {
    await other.close();
  }
});

const changingProvider = `${channel}
  const { clientSecret, ...us } = JSON.parse(process.env.US);
  const provider = new c.Provider("us", { ...us, clientSecret: pulumi.secret(clientSecret) });
  web("web", {}, process.env.FAR ? { provider } : {});
  web("near");
  if (!process.env.GONE) web("gone");
`;

test("a resource that is given the explicit provider of another account moves there", async () => {
  await open(changingProvider);
  const other = await startEmulator();
  try {
    const there = new EmulatorControl(other);
    const { baseUrl, tokenUrl, clientId, clientSecret } = other;
    const environment = { US: JSON.stringify({ baseUrl, tokenUrl, clientId, clientSecret }) };
    await project.succeed(up, environment);
    const far = { ...environment, FAR: "1", GONE: "1" };
    await project.succeed(up, far);
    expect(await there.objects("channels")).toMatchObject([{ type: "custom.web" }]);
    expect(await project.objects("channels")).toMatchObject([{ type: "custom.near" }]);
  } finally {
    await other.close();
  }
});

test("another address of the same account moves nothing, and deletes nothing", async () => {
  await open(changingProvider);
  const { baseUrl, tokenUrl, clientId, clientSecret } = project.emulator;
  const elsewhere = baseUrl.replace("127.0.0.1", "localhost");
  expect(elsewhere).not.toBe(baseUrl);
  const us = { baseUrl: elsewhere, tokenUrl, clientId, clientSecret };
  const environment = { US: JSON.stringify(us) };
  await project.succeed(up, environment);
  const made = await project.objects("channels");
  const { code, output } = await project.pulumi(up, { ...environment, FAR: "1" });
  expect(code).not.toBe(0);
  expect(output).toMatch(
    /"custom\.web" .* belongs to another Pulumi resource or state: shop\/prod web/,
  );
  expect(await project.objects("channels")).toEqual(made);
});

test("a forced replacement that also changes the provider keeps the object; what left the program is deleted", async () => {
  await open(changingProvider);
  const { baseUrl, tokenUrl, clientId, clientSecret } = project.emulator;
  const environment = { US: JSON.stringify({ baseUrl, tokenUrl, clientId, clientSecret }) };
  await project.succeed(up, environment);
  const kept = (await project.objects("channels")).filter(({ type }) => type !== "custom.gone");
  const urn = held().find(
    ({ id }) => id === kept.find(({ type }) => type === "custom.web")?.id,
  )?.urn;
  const far = { ...environment, FAR: "1", GONE: "1" };
  await project.succeed([...up, "--replace", String(urn)], far);
  const ids = (await project.objects("channels")).map(({ id }) => id);
  expect(ids.toSorted()).toEqual(kept.map(({ id }) => id).toSorted());
  await project.succeed(["refresh", "--yes", "--skip-preview", "--expect-no-changes"], far);
});

test("an object that another provider took over stays, also after a deletion before a replacement", async () => {
  await open(`${channel}
    const { clientSecret, ...us } = JSON.parse(process.env.US);
    const at = (name) => new c.Provider(name, { ...us, clientSecret: pulumi.secret(clientSecret) });
    const provider = [at("us"), at("eu")][process.env.FAR ? 1 : 0];
    const first = web("first", {}, { provider, deleteBeforeReplace: true });
    web("second", {}, { provider, dependsOn: process.env.FAR ? [first] : [] });`);
  const { baseUrl, tokenUrl, clientId, clientSecret } = project.emulator;
  const environment = { US: JSON.stringify({ baseUrl, tokenUrl, clientId, clientSecret }) };
  await project.succeed(up, environment);
  const made = held().filter(({ type }) => type === pluginToken("Channel"));
  const replacing = made.flatMap(({ urn }) => ["--replace", urn]);
  await project.succeed([...up, ...replacing], { ...environment, FAR: "1" });
  const ids = (await project.objects("channels")).map(({ id }) => id);
  expect(ids).toContain(made.find(({ urn }) => urn.endsWith("::second"))?.id);
  expect(ids).toHaveLength(2);
});

test("an object is imported once, whether by one run or by two", async () => {
  await open("");
  const body = { type: "custom.web", displayName: "Web", icon: "aVZC" };
  const { id } = await project.byHand("POST", "/channels", body);
  const token = pluginToken("Channel");
  const both = ["a", "b"].map((name) => ({ type: token, name, id }));
  writeFileSync(join(project.folder, "both.json"), JSON.stringify({ resources: both }));
  const options = ["--yes", "--generate-code=false", "--skip-preview", "--protect=false"];
  const together = await project.pulumi(["import", "--file", "both.json", ...options]);
  expect(together.code).not.toBe(0);
  expect(together.output).toMatch(/this run also imports it as Channel "[ab]"/);
  const [imported] = held().filter(({ type }) => type === token);
  if (!imported) await project.succeed(["import", token, "a", String(id), ...options]);
  const again = await project.pulumi(["import", token, "c", String(id), ...options]);
  expect(again.code).not.toBe(0);
  expect(again.output).toMatch(/the state of the stack prod contains it: .*::[ab]\b/);
  expect(held().filter(({ type }) => type === token)).toHaveLength(1);
});

test("kill -9 in the very first creation: the state has the ownership, and the next up takes the object over", async () => {
  await open(`${channel} web("web");`);
  await project.faults({ on: "POST /channels", kind: "drip" });
  const { child, ended } = project.start(up);
  while ((await project.objects("channels")).length === 0) await pause(50);
  const providers = descendants(child.pid ?? 0, project.providerProcess);
  for (const pid of [child.pid ?? 0, ...providers]) process.kill(pid, "SIGKILL");
  await ended;
  const [ownership] = ownerships();
  expect(ownership).toMatch(/^shop\/prod\/[0-9a-f]{16}$/);
  const [made] = await project.objects("channels");
  await project.release();
  expect(await project.succeed(up)).toContain("took over the channel");
  expect(ownerships()).toEqual([ownership]);
  expect(await project.objects("channels")).toMatchObject([{ id: made?.id }]);
  expect(held().find(({ type }) => type === pluginToken("Channel"))?.id).toBe(made?.id);
});

test("pulumi import takes an object of nobody, without its secrets; then the program changes nothing, and its next change marks it", async () => {
  await open(
    `const c = require("pulumi-conversation");
    if (process.env.DECLARED) new c.Authentication("desk", { name: "desk", active: true, type: "basic", description: process.env.DESCRIBED, basicAuth: { username: "hub", password: process.env.DECLARED } }, { protect: false });`,
    { switches: { secrets: "echo" } },
  );
  const body = {
    name: "desk",
    type: "basic",
    active: true,
    basicAuth: { username: "hub", password: "canary" },
  };
  const { id } = await project.byHand("POST", "/authentications", body);
  const token = pluginToken("Authentication");
  const imported = ["import", token, "desk", String(id), "--yes", "--protect=false"];
  const output = await project.succeed([...imported, "--generate-code=false", "--skip-preview"]);
  expect(output).not.toContain("canary");
  const [object] = await project.objects("authentications");
  expect(object?.description).toBeUndefined();
  const declared = { DECLARED: "canary" };
  await project.succeed([...up, "--expect-no-changes"], declared);
  await project.succeed(up, { ...declared, DESCRIBED: "ours" });
  expect(await project.objects("authentications")).toMatchObject([
    { id, description: expect.stringMatching(/^ours \[pulumi: shop\/prod desk #/) },
  ]);
  expect(project.state()).not.toContain("canary");
});

test("the option import of a program adopts, by the same refusals; what it refused stays", async () => {
  await open(`${channel} if (process.env.ID) web("web", {}, { import: process.env.ID });`);
  const { id } = await project.byHand("POST", "/channels", {
    ...{ type: "custom.web", displayName: "By hand", icon: "aVZC" },
  });
  const ID = String(id);
  await project.succeed(up, { ID });
  const ours = [
    { id, displayName: "Web", description: expect.stringContaining("[pulumi: shop/prod web #") },
  ];
  expect(await project.objects("channels")).toMatchObject(ours);
  await project.succeed(["stack", "init", "other"]);
  // With --skip-preview, the engine has the object in the state before the check refuses it.
  for (const run of ["preview", ...Array(2).fill("up --yes --skip-preview")]) {
    const { code, output } = await project.pulumi(run.split(" "), { ID });
    expect([code === 0, output]).toEqual([
      false,
      expect.stringMatching(
        /cannot be imported: (it carries the mark of another|the state of the) stack/,
      ),
    ]);
  }
  expect(await project.succeed(up)).toMatch(/Nothing was deleted: the channel "custom.web"/);
  expect(await project.objects("channels")).toMatchObject(ours);
});

test("find gives an object of the account to a program", async () => {
  await open(`${channel}
    if (process.env.FIND) exports.id = c.Channel.find({ type: "custom.web" }).then(({ id }) => id);
    else web("web");`);
  await project.succeed(up);
  const [object] = await project.objects("channels");
  await project.succeed(["stack", "init", "other"]);
  const output = await project.succeed(["up", "--yes", "--skip-preview"], { FIND: "1" });
  expect(output).toContain(String(object?.id));
});
