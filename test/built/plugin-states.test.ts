import { setTimeout as pause } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import type { JsonObject } from "../../provider/kernel/json.js";
import { pluginToken, providerToken } from "../../provider/kernel/type-tokens.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { descendants } from "../support/processes.js";

/* What becomes of the objects of a state whose provider changes: another version, another stack. */

let project: EmulatedProject;
afterEach(() => project?.close());

/** Channels by their logical names, `NAMES`; a version names the provider, as generated packages do. */
const program = `
const c = require("pulumi-conversation");
const { NAMES = "web", TITLE, VERSION } = process.env;
for (const name of NAMES.split(" "))
  new c.Channel(name, { type: "custom." + name + (process.env.SUFFIX ?? ""), displayName: TITLE ?? name, icon: "aVZC" }, { version: VERSION });`;

const open = async () => {
  project = await emulatedProject(program, {}, {}, "plugin");
};

const up = ["up", "--yes", "--skip-preview"] as const;

interface Held {
  readonly urn: string;
  readonly type: string;
  readonly id: string;
  readonly provider?: string;
  readonly inputs: JsonObject;
}

const held = async (stack = "prod"): Promise<readonly Held[]> => {
  const text = await project.succeed(["stack", "export", "--stack", stack]);
  return JSON.parse(text).deployment.resources ?? [];
};

/** What is in the state of a stack: ownership of each provider, and owner of each channel. */
const owners = async (stack?: string) => {
  const all = await held(stack);
  const of = (type: string, key: string) =>
    all.filter((each) => each.type === type).map(({ inputs }) => String(inputs[key]));
  return {
    providers: of(providerToken, "ownership"),
    channels: of(pluginToken("Channel"), "owner").toSorted(),
  };
};

/** An `up` that is killed as soon as the channel is made, before the state has it. */
const killedUp = async (environment: Readonly<Record<string, string>>): Promise<string> => {
  const before = await project.objects("channels");
  await project.faults({ on: "POST /channels", kind: "drip" });
  const { child, ended } = project.start(up, environment);
  while ((await project.objects("channels")).length === before.length) await pause(50);
  const providers = descendants(child.pid ?? 0, project.providerProcess);
  for (const pid of [child.pid ?? 0, ...providers]) process.kill(pid, "SIGKILL");
  await ended;
  await project.control("DELETE", "/faults");
  const made = (await project.objects("channels")).find(
    ({ id }) => !before.some((other) => other.id === id),
  );
  return String(made?.id);
};

const tool = async (...args: readonly string[]) => {
  const { code, output, errors } = await project.tool([...args, "--json"]);
  return { code, errors, found: JSON.parse(output || "null") };
};

const [old, next] = [{ VERSION: "0.1.0" }, { VERSION: "0.2.0" }];

test("after a change of the plugin's version everything stays with its owner, and what a killed run left is repaired", async () => {
  await open();
  await project.succeed(up, old);
  const before = await owners();
  const lost = await killedUp({ ...old, NAMES: "web kiosk" });
  const { found, errors } = await tool("repair", "--apply");
  expect(found.steps, errors).toContainEqual(
    expect.objectContaining({ action: "record", id: lost, done: true }),
  );
  const writes = (await project.writes()).length;
  await project.succeed(up, { ...next, NAMES: "web kiosk" });
  expect((await project.writes()).slice(writes)).toEqual([]);
  const after = await owners();
  expect(after.providers).toHaveLength(1);
  expect(after.providers).not.toEqual(before.providers);
  expect(after.channels).toEqual(["kiosk", "web"].map((name) => `${before.providers[0]}/${name}`));
  const changed = { ...next, NAMES: "web kiosk desk", TITLE: "New" };
  await project.succeed(up, changed);
  expect((await project.writes()).slice(writes).toSorted()).toEqual([
    ...["POST /channels", "PUT /channels/{id}", "PUT /channels/{id}"],
  ]);
  expect(await tool("orphans")).toMatchObject({ code: 0, found: [] });
  expect(await tool("drift")).toMatchObject({ code: 0 });
  expect(await tool("repair")).toMatchObject({ found: { steps: [], left: [], notes: [] } });
});

test("what a run of the former version left without a repair is refused by name, and then repaired", async () => {
  await open();
  await project.succeed(up, old);
  const lost = await killedUp({ ...old, NAMES: "web kiosk" });
  await project.release();
  const both = { ...next, NAMES: "web kiosk" };
  const { code, output } = await project.pulumi(up, both);
  expect({ code: code === 0, output }).toMatchObject({
    code: false,
    output: expect.stringContaining(lost),
  });
  expect(await project.objects("channels")).toHaveLength(2);
  const { found, errors } = await tool("repair", "--apply");
  expect(found.steps, errors).toContainEqual(
    expect.objectContaining({ action: "record", id: lost, done: true }),
  );
  await project.succeed(up, both);
  expect((await project.objects("channels")).map(({ id }) => id)).toContain(lost);
  expect(await project.objects("channels")).toHaveLength(2);
  expect(await tool("orphans")).toMatchObject({ code: 0, found: [] });
});

test("a stack to which `pulumi state move` brings a resource with its provider makes an ownership of its own", async () => {
  await open();
  await project.succeed(up, { NAMES: "web kiosk" });
  const before = await owners();
  const ids = (await project.objects("channels")).map(({ id }) => id);
  await project.succeed(["stack", "init", "other"]);
  await project.succeed(["stack", "select", "prod"]);
  const kiosk = (await held()).find(({ urn }) => urn.endsWith("::kiosk"));
  await project.succeed([
    ...["state", "move", "--source", "prod", "--dest", "other", "--yes", String(kiosk?.urn)],
  ]);
  expect((await owners("other")).providers).toEqual(before.providers);
  // The other stack has a resource with the name of one that stayed.
  const there = ["--stack", "other"] as const;
  const both = { NAMES: "kiosk web", SUFFIX: ".other" };
  await project.succeed([...up, ...there], both);
  const after = await owners("other");
  expect(after.providers).toEqual([expect.stringMatching(/^shop\/other\/[0-9a-f]{16}$/)]);
  expect(after.channels).toEqual(["kiosk", "web"].map((name) => `${after.providers[0]}/${name}`));
  expect(await owners()).toEqual({
    providers: before.providers,
    channels: [`${before.providers[0]}/web`],
  });
  const channels = await project.objects("channels");
  expect(channels.map(({ type }) => type).toSorted()).toEqual([
    ...["custom.kiosk.other", "custom.web", "custom.web.other"],
  ]);
  expect(channels.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
  expect(await tool("orphans")).toMatchObject({ code: 0, found: [] });
  // A rehearsal knows the other stack as one of the plugin.
  const rehearsed = await project.tool(["rehearse", "--json"], { NAMES: "web kiosk.other" });
  expect(JSON.parse(rehearsed.output).outcome).toMatchObject({
    passes: false,
    refusals: [{ name: "kiosk.other", reason: expect.stringContaining("other") }],
  });
  await project.succeed(["destroy", "--yes", "--skip-preview", ...there]);
  expect(await project.objects("channels")).toMatchObject([{ type: "custom.web" }]);
  await project.succeed([...up, "--expect-no-changes"]);
});
