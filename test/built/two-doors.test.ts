import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { deliverPlugin, pluginSettings } from "../support/plugin-delivery.js";

/** The channel `shop` as a dynamic resource, as one of the plugin, or as both; `other` stays dynamic. */
const program = `
const { CustomResource } = require("@pulumi/pulumi");
const { Channel } = require("pulumi-conversation");
const { DOORS = "", ALIASES, IMPORT } = process.env;
const given = (name) => ({ type: "custom." + name, displayName: name, icon: "aVZC" });
const options = ALIASES ? { aliases: [ALIASES] } : {};
new Channel("other", given("other"));
if (DOORS.includes("dynamic")) new Channel("shop", given("shop"), options);
if (DOORS.includes("plugin")) new CustomResource("conversation:index:Channel", "shop", given("shop"), options);
if (IMPORT) new CustomResource("conversation:index:Channel", "taken", given("shop"), { import: IMPORT });
`;

const up = ["up", "--yes", "--skip-preview"];
const dynamicUrn = "urn:pulumi:prod::shop::pulumi-nodejs:dynamic/conversation:Channel::shop";

let project: EmulatedProject;
let before: Awaited<ReturnType<EmulatedProject["objects"]>>;

beforeEach(async () => {
  project = await emulatedProject(program);
  const settings = pluginSettings(deliverPlugin(project.folder));
  writeFileSync(join(project.folder, "Pulumi.yaml"), JSON.stringify(settings));
  await project.succeed(up, { DOORS: "dynamic" });
  before = await project.objects();
});

afterEach(() => project?.close());

test("a resource that changes its class without aliases is refused, and its error says what to add", async () => {
  const { output } = await project.pulumi(up, { DOORS: "plugin" });
  expect(output).toContain(
    `If this resource is that one, add the option aliases: ["${dynamicUrn}"], and do not replace it in the same run.`,
  );
  await project.succeed(up, { DOORS: "plugin", ALIASES: dynamicUrn });
  expect(await project.objects()).toMatchObject(before.map(({ id }) => ({ id })));
});

test.each(["dynamic", "plugin"])(
  "of two entries of a state with one object, the one that stays keeps it (%s)",
  async (stays) => {
    await project.succeed(up, { DOORS: "plugin", ALIASES: dynamicUrn });
    await project.edit((resources) => {
      const plugin = resources.find(({ type }) => /^conversation:/.test(type));
      const other = resources.find(({ urn }) => urn.endsWith("::other"));
      const both = JSON.parse(JSON.stringify(other).replaceAll("custom.other", "custom.shop"));
      const ours = { owner: plugin?.inputs?.owner, displayName: "shop" };
      Object.assign(both, { urn: both.urn.replace(/other$/, "shop"), id: plugin?.id });
      Object.assign(both.inputs, ours);
      Object.assign(both.outputs, { ...ours, serial: plugin?.outputs?.serial });
      return [...resources, both];
    });
    await project.succeed(up, { DOORS: stays });
    expect((await project.objects()).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    await project.succeed(up, { DOORS: "" });
    expect((await project.objects()).map(({ type }) => type)).toEqual(["custom.other"]);
  },
);

test("an import that is refused keeps no object of the class that holds it", async () => {
  const IMPORT = String(before.find(({ type }) => type === "custom.shop")?.id);
  const { output } = await project.pulumi(up, { DOORS: "dynamic", IMPORT });
  expect(output).toMatch(
    /cannot be imported: the state of the stack prod contains it: urn:\S+::shop/,
  );
  expect(await project.objects()).toEqual(before);
  await project.succeed(["destroy", "--yes", "--skip-preview"]);
  expect(await project.objects()).toEqual([]);
});
