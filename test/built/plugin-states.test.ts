import { afterEach, expect, test } from "vitest";
import { pluginToken, providerToken } from "../../provider/kernel/pulumi.js";
import {
  type EmulatedProject,
  emulatedProject,
  killCreation,
} from "../support/emulated-project.js";

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

/** What is in the state of a stack: ownership of each provider, and owner of each channel. */
const owners = (stack?: string) => {
  const { resources } = project.held(stack);
  const of = (type: string, key: string) =>
    resources.filter((each) => each.type === type).map(({ inputs }) => String(inputs?.[key]));
  return {
    providers: of(providerToken, "ownership"),
    channels: of(pluginToken("Channel"), "owner").toSorted(),
  };
};

const tool = async (...args: readonly string[]) => {
  const { code, output, errors } = await project.tool([...args, "--json"]);
  return { code, errors, found: JSON.parse(output || "null") };
};

const [old, next] = [{ VERSION: "0.1.0" }, { VERSION: "0.2.0" }];

test("after a change of the plugin's version everything stays with its owner; what a run of the former one left is refused by name, and then repaired", async () => {
  await open();
  await project.succeed(up, old);
  const before = owners();
  const lost = await killCreation(project, { ...old, NAMES: "web kiosk" });
  await project.release();
  const both = { ...next, NAMES: "web kiosk" };
  const { code, output } = await project.pulumi(up, both);
  expect([code === 0, output]).toEqual([false, expect.stringContaining(lost)]);
  expect(await project.objects("channels")).toHaveLength(2);
  const { found, errors } = await tool("repair", "--apply");
  expect(found.steps, errors).toContainEqual(
    expect.objectContaining({ action: "record", id: lost, done: true }),
  );
  const writes = (await project.writes()).length;
  await project.succeed(up, both);
  expect((await project.writes()).slice(writes)).toEqual([]);
  const after = owners();
  expect(after.providers).toHaveLength(1);
  expect(after.providers).not.toEqual(before.providers);
  expect(after.channels).toEqual(["kiosk", "web"].map((name) => `${before.providers[0]}/${name}`));
  await project.succeed(up, { ...next, NAMES: "web kiosk desk", TITLE: "New" });
  expect((await project.writes()).slice(writes).toSorted()).toEqual([
    ...["POST /channels", "PUT /channels/{id}", "PUT /channels/{id}"],
  ]);
  expect(await tool("orphans")).toMatchObject({ code: 0, found: [] });
  expect(await tool("repair")).toMatchObject({ found: { steps: [], left: [], notes: [] } });
});

test("a stack to which `pulumi state move` brings a resource with its provider makes an ownership of its own", async () => {
  await open();
  await project.succeed(up, { NAMES: "web kiosk" });
  const before = owners();
  const ids = (await project.objects("channels")).map(({ id }) => id);
  await project.succeed(["stack", "init", "other"]);
  await project.succeed(["stack", "select", "prod"]);
  const kiosk = project.held().resources.find(({ urn }) => urn.endsWith("::kiosk"));
  await project.succeed([
    ...["state", "move", "--source", "prod", "--dest", "other", "--yes", String(kiosk?.urn)],
  ]);
  expect(owners("other").providers).toEqual(before.providers);
  // The other stack has a resource with the name of one that stayed.
  const there = ["--stack", "other"] as const;
  const both = { NAMES: "kiosk web", SUFFIX: ".other" };
  await project.succeed([...up, ...there], both);
  const after = owners("other");
  expect(after.providers).toEqual([expect.stringMatching(/^shop\/other\/[0-9a-f]{16}$/)]);
  expect(after.channels).toEqual(["kiosk", "web"].map((name) => `${after.providers[0]}/${name}`));
  expect(owners()).toEqual({
    providers: before.providers,
    channels: [`${before.providers[0]}/web`],
  });
  const channels = await project.objects("channels");
  expect(channels.map(({ type }) => type).toSorted()).toEqual([
    ...["custom.kiosk.other", "custom.web", "custom.web.other"],
  ]);
  expect(channels.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
  expect(await tool("orphans")).toMatchObject({ code: 0, found: [] });
  await project.succeed(["destroy", "--yes", "--skip-preview", ...there]);
  expect(await project.objects("channels")).toMatchObject([{ type: "custom.web" }]);
  await project.succeed([...up, "--expect-no-changes"]);
});
