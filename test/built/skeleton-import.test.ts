import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { oddAccount, oddCanary, oddId } from "../support/odd-account.js";
import { deliverPlugin, pluginSettings } from "../support/plugin-delivery.js";

/**
 * A program for objects that are there under the same names, one of them below a component, and for
 * two that are not.
 */
const program = `
const pulumi = require("@pulumi/pulumi");
const hub = require("pulumi-conversation");
const part = new pulumi.ComponentResource("shop:index:Part", "part");
const channel = (type) => ({ type, displayName: type.slice(7), icon: "aVZCT1J3MEtHZ28=" });
const party = (place) => ({ name: "customer", version: "v3", callback: "https://App" + place + ".example.com/ü/0", notificationEmail: "Ops+" + place + "@Example.com" });
const login = new hub.Authentication("login", { name: "orders-bot", active: true, basicAuth: { username: "hub 2", password: pulumi.secret("${oddCanary}-x") } });
const desk = new hub.ClientApplication("desk", { name: "Größe & Maß", roles: [{ ...party(0), authentication: "${oddId(1, 0)}" }] });
new hub.Channel("desk", channel("custom.订单机器人"), { parent: part });
new hub.Channel("fresh", channel("custom.fresh"));
new hub.Orchestration("flow", { name: "Orders", applications: { customerConfiguration: { customer: desk }, agentConfiguration: { agents: [desk, "${oddId(2, 1)}"] }, botConfiguration: { forwardTranscript: true, bots: [{ participant: "${oddId(3, 0)}", application: desk, onEscalation: { agent: "${oddId(2, 1)}" } }] } } });
`;

let project: EmulatedProject;
afterEach(() => project?.close());

const importFlags = ["--generate-code=false", "--protect=false", "--yes", "--skip-preview"];

interface Entry {
  readonly type: string;
  readonly name: string;
  readonly id?: string;
}

const file = (name: string): string => join(project.folder, name);
const entriesOf = (name: string): readonly Entry[] =>
  JSON.parse(readFileSync(file(name), "utf8")).resources;

/** Logical name and id of what the state holds of the service. */
const held = () => {
  const { resources = [] } = JSON.parse(project.state()).checkpoint.latest ?? {};
  const ours = (resources as (Entry & { urn: string })[]).filter(({ type }) =>
    /conversation:(?!.*Ownership)/.test(type),
  );
  return Object.fromEntries(ours.map(({ urn, id }) => [urn.split("::").slice(2).join(" "), id]));
};

const writes = async () =>
  ((await project.control("GET", "/log")) as { method: string; path: string }[])
    .filter(({ method, path }) => method !== "GET" && !path.includes("oauth"))
    .map(({ method, path }) => `${method} ${path}`);

const account = async (source: string): Promise<void> => {
  project = await emulatedProject(source);
  await project.control("PUT", "/snapshot", { version: 1, objects: oddAccount(3) });
};

const dynamic = (kind: string): string => `pulumi-nodejs:dynamic/conversation:${kind}`;

test("what a preview would create is looked up, imported by one command, and nothing of it changes", async () => {
  await account(program);
  await project.succeed(["preview", "--import-file", "skeleton.json"]);
  const ours = entriesOf("skeleton.json");
  expect(ours.filter(({ id }) => id === "<PLACEHOLDER>")).toHaveLength(6);
  expect(ours.find(({ type }) => type === "shop:index:Part")).toMatchObject({ component: true });
  const unclear = await project.tool(["import", "--file", "skeleton.json"]);
  expect([unclear.code, unclear.errors]).toEqual([
    1,
    expect.stringContaining("there is more than one orchestration"),
  ]);
  const decided = ours.map((each) => (each.name === "flow" ? { ...each, id: oddId(5, 0) } : each));
  writeFileSync(file("skeleton.json"), JSON.stringify({ resources: decided }));
  const shown = await project.tool(["import", "--file", "skeleton.json"]);
  expect([shown.code, shown.errors]).toEqual([0, expect.any(String)]);
  expect(shown.output.replaceAll(/\s+/g, " ")).toContain(
    "To import these 4 objects into shop/prod",
  );
  expect(held()).toEqual({});
  const done = await project.tool(["import", "--file", "skeleton.json", "--apply", "--json"]);
  expect([done.code, done.errors]).toEqual([0, expect.stringContaining("Imported 4 objects")]);
  expect(JSON.parse(done.output)).toMatchObject({
    applied: true,
    skipped: [{ name: "fresh", reason: expect.stringContaining("pulumi up creates it") }],
  });
  const [login, desk, flow] = [
    "Authentication login",
    "ClientApplication desk",
    "Orchestration flow",
  ];
  const imported = {
    [dynamic(login ?? "")]: oddId(1, 2),
    [dynamic(desk ?? "")]: oddId(2, 0),
    [`shop:index:Part$${dynamic("Channel desk")}`]: oddId(4, 1),
    [dynamic(flow ?? "")]: oddId(5, 0),
  };
  expect(held()).toEqual(imported);
  const preview = JSON.parse(await project.succeed(["preview", "--json"]));
  expect(preview.changeSummary).toMatchObject({ create: 1 });
  expect(preview.changeSummary).not.toHaveProperty("update");
  expect(await writes()).toEqual([]);
  await project.succeed(["up", "--yes", "--skip-preview"]);
  expect(await writes()).toEqual(["POST /channels"]);
  expect(held()).toMatchObject(imported);
  expect(project.state()).not.toContain(oddCanary);
  await project.succeed(["preview", "--expect-no-changes"]);
  const again = await project.tool(["import", "--file", "skeleton.json", "--apply"]);
  expect([again.code, again.output]).toEqual([
    0,
    expect.stringContaining("Nothing is left to import"),
  ]);
});

test("what a plugin's resources are is written into a file for pulumi import", async () => {
  const kinds = { desk: "Channel", login: "Authentication" };
  const resource = (name: keyof typeof kinds, args: string) =>
    `new Native("conversation:index:${kinds[name]}", "${name}", ${args});`;
  await account(`
const pulumi = require("@pulumi/pulumi");
class Native extends pulumi.CustomResource {}
${resource("desk", '{ type: "custom.订单机器人", displayName: "订单机器人", icon: "aVZCT1J3MEtHZ28=" }')}
${resource("login", '{ name: "orders-bot", basicAuth: { username: "hub 2", password: "x" } }')}
`);
  const settings = pluginSettings(deliverPlugin(project.folder));
  writeFileSync(file("Pulumi.yaml"), JSON.stringify(settings));
  await project.succeed(["preview", "--import-file", "skeleton.json"]);
  const filled = await project.tool(["import", "--file", "skeleton.json", "--out", "filled.json"]);
  expect([filled.code, filled.errors]).toEqual([0, expect.stringContaining("Wrote filled.json")]);
  expect(entriesOf("filled.json")).toEqual(
    entriesOf("skeleton.json").map((each) => ({
      ...each,
      id: each.name === "desk" ? oddId(4, 1) : oddId(1, 2),
    })),
  );
  await project.succeed(["import", "--file", "filled.json", ...importFlags]);
  expect(held()).toEqual({
    "conversation:index:Channel desk": oddId(4, 1),
    "conversation:index:Authentication login": oddId(1, 2),
  });
  expect(await writes()).toEqual([]);
});
