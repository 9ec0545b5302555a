import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startEmulator } from "pulumi-conversation/emulator";
import { afterEach, expect, test } from "vitest";
import { pluginToken } from "../../provider/kernel/pulumi.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { EmulatorControl } from "../support/emulator-control.js";

let project: EmulatedProject;
afterEach(() => project?.close());

const open = async (program: string, options: Parameters<typeof emulatedProject>[1] = {}) => {
  project = await emulatedProject(program, options, {}, "plugin");
};

const held = () => project.held().resources;

const up = ["up", "--yes", "--skip-preview"] as const;

const channel = `
const c = require("pulumi-conversation");
const pulumi = require("@pulumi/pulumi");
const web = (name, more, opts) => new c.Channel(name, { type: "custom." + name, displayName: "Web", icon: "aVZC", ...more }, opts);
`;

const changingProvider = `${channel}
  const { clientSecret, ...us } = JSON.parse(process.env.US);
  const provider = new c.Provider("us", { ...us, clientSecret: pulumi.secret(clientSecret) });
  web("web", {}, process.env.FAR ? { provider } : {});
  web("near");
  if (!process.env.GONE) web("gone");
`;

test("a forced replacement that also changes the provider keeps the object; what left the program is deleted; another account is moved to", async () => {
  await open(changingProvider);
  const settingsOf = ({
    baseUrl,
    tokenUrl,
    clientId,
    clientSecret,
  }: EmulatorControl["emulator"]) => ({
    US: JSON.stringify({ baseUrl, tokenUrl, clientId, clientSecret }),
  });
  const here = settingsOf(project.emulator);
  await project.succeed(up, here);
  const kept = (await project.objects("channels")).filter(({ type }) => type !== "custom.gone");
  const urn = held().find(
    ({ id }) => id === kept.find(({ type }) => type === "custom.web")?.id,
  )?.urn;
  const far = { FAR: "1", GONE: "1" };
  await project.succeed([...up, "--replace", String(urn)], { ...here, ...far });
  const ids = (await project.objects("channels")).map(({ id }) => id);
  expect(ids.toSorted()).toEqual(kept.map(({ id }) => id).toSorted());
  await project.succeed(["refresh", "--yes", "--skip-preview", "--expect-no-changes"], {
    ...here,
    ...far,
  });
  const other = await startEmulator();
  try {
    await project.succeed(up, { ...here, GONE: "1" });
    await project.succeed(up, { ...settingsOf(other), ...far });
    expect(await new EmulatorControl(other).objects("channels")).toMatchObject([
      { type: "custom.web" },
    ]);
    expect(await project.objects("channels")).toMatchObject([{ type: "custom.near" }]);
  } finally {
    await other.close();
  }
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

test("the option import of a program adopts, by the same refusals; what it refused stays; find gives the object to a program", async () => {
  await open(`${channel}
    if (process.env.ID) web("web", {}, { import: process.env.ID });
    if (process.env.FIND) exports.id = c.Channel.find({ type: "custom.web" }).then(({ id }) => id);`);
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
  const found = await project.succeed(up, { FIND: "1" });
  expect(found).toMatch(/Nothing was deleted: the channel "custom.web"/);
  expect(found).toMatch(new RegExp(`id *: *"${ID}"`));
  expect(await project.objects("channels")).toMatchObject(ours);
});
