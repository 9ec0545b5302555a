import { type Emulator, startEmulator } from "pulumi-conversation/emulator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { type CliProject, cliProject } from "../support/cli-project.js";

type Json = Record<string, unknown>;

/** One resource of each kind; DESCRIBE gives all of them another description, OPTIONS other engine options. */
const program = `
const c = require("pulumi-conversation");
const description = process.env.DESCRIBE;
const opts = JSON.parse(process.env.OPTIONS ?? "{}");
const without = process.env.WITHOUT ?? "";
const auth = new c.Authentication("auth", { description, basicAuth: { username: "hub", password: "canary-password" } }, opts);
const callback = { version: "v3", callback: "https://x.example.com/", notificationEmail: "ops@example.com", authentication: auth };
const app = new c.ClientApplication("app", { description, roles: [{ ...callback, name: "custom_bot" }, { ...callback, name: "customer" }] }, opts);
const bot = new c.Participant("bot", { description, type: "custom_bot", application: app }, opts);
const channel = new c.Channel("web", { description, type: "custom.web", displayName: "Web", icon: "aVZC" }, opts);
const flow = new c.Orchestration("flow", { description, applications: { customerConfiguration: { customer: app }, botConfiguration: { bots: [{ application: app, participant: bot }] } } }, opts);
if (without !== "account") new c.Account("shop", { description, address: "shop", channel, chatConfigurations: { orchestration: flow, entryPoint: "1007" } }, opts);
exports.channelType = channel.type;
exports.lookedUp = channel.id.apply((id) => id).apply(() => "ok");
`;

const collections = [
  "authentications",
  "clientapplications",
  "participants",
  "channels",
  "orchestrations",
  "accounts",
];

let emulator: Emulator;
let project: CliProject;

const control = async (path: string): Promise<never> =>
  (await fetch(emulator.controlUrl + path)).json() as Promise<never>;
const objects = async (): Promise<Record<string, Json[]>> =>
  ((await control("/snapshot")) as { objects: Record<string, Json[]> }).objects;
const all = async (): Promise<Json[]> => Object.values(await objects()).flat();
const writes = async (): Promise<string[]> =>
  ((await control("/log")) as { method: string; template: string }[])
    .filter(({ method }) => method !== "GET")
    .map(({ method, template }) => `${method} ${template}`);

const run = async (
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> => {
  const { code, output } = await project.pulumi(args, environment);
  expect(code === 0 ? "" : output).toBe("");
  return output;
};

/** A third party with credentials of its own. */
const thirdParty = async (
  method: string,
  path: string,
  change?: (object: Json) => Json,
): Promise<void> => {
  const form = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: emulator.clientId,
    client_secret: emulator.clientSecret,
    scope: "x/.default",
  });
  const { access_token } = (await (
    await fetch(emulator.tokenUrl, { method: "POST", body: form })
  ).json()) as { access_token: string };
  const headers = { authorization: `Bearer ${access_token}`, "content-type": "application/json" };
  const live = (await (await fetch(emulator.baseUrl + path, { headers })).json()) as Json;
  const body = change ? { body: JSON.stringify(change(live)) } : {};
  const response = await fetch(emulator.baseUrl + path, { method, headers, ...body });
  expect(response.status).toBe(204);
};

beforeAll(async () => {
  emulator = await startEmulator({ switches: { secrets: "echo" } });
  project = await cliProject(program, emulatorEnvironment(emulator));
});

afterAll(async () => {
  project?.remove();
  await emulator?.close();
});

test("preview of a new stack knows every value it can and makes no call", async () => {
  const output = await run(["preview", "--diff"]);
  expect(output).toContain("custom.web");
  expect(output).not.toContain("canary-password");
  expect(await control("/stats")).toEqual({ calls: {}, tokensIssued: 0 });
});

test("up, then preview, refresh and up without changes", async () => {
  await run(["up", "--yes", "--skip-preview"]);
  expect(await all()).toHaveLength(6);
  const calls = JSON.stringify(await control("/stats"));
  await run(["preview", "--expect-no-changes"]);
  await run(["up", "--yes", "--expect-no-changes"]);
  expect(JSON.stringify(await control("/stats"))).toBe(calls);
  await run(["refresh", "--yes", "--expect-no-changes"]);
  await run(["preview", "--expect-no-changes"]);
  expect(project.state()).not.toContain("canary-password");
});

test("a change of every kind is one PUT each, in place", async () => {
  const before = (await all()).map(({ id }) => id);
  const done = (await writes()).length;
  await run(["up", "--yes", "--skip-preview"], { DESCRIBE: "changed" });
  expect((await all()).map(({ id }) => id)).toEqual(before);
  expect((await writes()).slice(done).sort()).toEqual(
    collections.map((name) => `PUT /${name}/{id}`).sort(),
  );
  await run(["up", "--yes", "--skip-preview"]);
});

test("drift in every kind is shown by refresh and repaired by up", async () => {
  for (const [collection, list] of Object.entries(await objects())) {
    for (const { id } of list)
      await thirdParty("PUT", `/${collection}/${id}`, (object) => ({
        ...object,
        description: "by hand",
        active: false,
      }));
  }
  expect(await run(["refresh", "--yes"])).toMatch(/~ 6 (updated|changed|to update)/);
  await run(["up", "--yes", "--skip-preview"]);
  for (const object of await all()) {
    expect(object.active).toBe(true);
    expect(object.description).toMatch(/^by hand \[pulumi: shop\/prod /);
  }
  await run(["preview", "--expect-no-changes"]);
});

test("taint, --replace, deleteBeforeReplace and replaceOnChanges keep every object", async () => {
  const before = (await all()).map(({ id }) => id);
  const urn = "urn:pulumi:prod::shop::pulumi-nodejs:dynamic/conversation:Channel::web";
  await run(["state", "taint", urn, "--yes"]);
  await run(["up", "--yes", "--skip-preview"]);
  await run(["up", "--yes", "--skip-preview", "--replace", urn]);
  const forced = JSON.stringify({ deleteBeforeReplace: true, replaceOnChanges: ["*"] });
  await run(["up", "--yes", "--skip-preview"], { OPTIONS: forced, DESCRIBE: "replaced" });
  expect((await all()).map(({ id }) => id)).toEqual(before);
  await run(["up", "--yes", "--skip-preview"]);
  await run(["preview", "--expect-no-changes"]);
});

test("what was deleted behind us is made again", async () => {
  const [account] = (await objects()).accounts ?? [];
  await thirdParty("DELETE", `/accounts/${account?.id}`);
  await run(["refresh", "--yes"]);
  await run(["up", "--yes", "--skip-preview"]);
  expect((await objects()).accounts).toHaveLength(1);
});

test("a resource that leaves the program leaves the service", async () => {
  await run(["up", "--yes", "--skip-preview"], { WITHOUT: "account" });
  expect((await objects()).accounts).toEqual([]);
  await run(["up", "--yes", "--skip-preview"]);
});

test("a refused deletion names the user", async () => {
  const [account] = (await objects()).accounts ?? [];
  const urn = "urn:pulumi:prod::shop::pulumi-nodejs:dynamic/conversation:Account::shop";
  // The account leaves the state but not the service.
  await run(["state", "delete", urn, "--yes"]);
  const { code, output } = await project.pulumi(["destroy", "--yes", "--skip-preview"]);
  expect(code).not.toBe(0);
  expect(output).toMatch(
    new RegExp(
      `deleting the orchestration .* is used by account ".*" \\(id ${account?.id}, of this stack: shop/prod shop\\)`,
    ),
  );
  expect(output).not.toMatch(/\n\s+at .*\.js:\d+/);
});

test("the next up finds its own account again, and destroy takes everything down in a legal order", async () => {
  await run(["up", "--yes", "--skip-preview"]);
  expect(await all()).toHaveLength(6);
  const done = (await writes()).length;
  await run(["destroy", "--yes", "--skip-preview"]);
  expect(await all()).toEqual([]);
  const order = (await writes())
    .slice(done)
    .map((call) => call.slice("DELETE /".length, -"/{id}".length));
  expect(order.slice(0, 4)).toEqual([
    "accounts",
    "orchestrations",
    "participants",
    "clientapplications",
  ]);
});
