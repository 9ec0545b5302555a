import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";

type Json = Record<string, unknown>;

/** RESOURCES: `[class, logical name, arguments]`; `@name` stands for the id of a resource before. */
const program = `
const c = require("pulumi-conversation");
const made = {};
const filled = (value) => typeof value === "string" && value.startsWith("@") ? made[value.slice(1)].id
  : Array.isArray(value) ? value.map(filled)
  : value && typeof value === "object" ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, filled(v)])) : value;
for (const [kind, name, args] of JSON.parse(process.env.RESOURCES ?? "[]")) made[name] = new c[kind](name, filled(args));
`;

let project: EmulatedProject;

const urnOf = (kind: string, name: string, stack = "prod"): string =>
  `urn:pulumi:${stack}::shop::pulumi-nodejs:dynamic/conversation:${kind}::${name}`;

const done = (resources: readonly unknown[], ...args: readonly string[]) =>
  project.succeed(["up", "--yes", "--skip-preview", "--stack", "prod", ...args], {
    RESOURCES: JSON.stringify(resources),
  });

const up = (resources: readonly unknown[], ...args: readonly string[]) =>
  project.pulumi(["up", "--yes", "--skip-preview", "--stack", "prod", ...args], {
    RESOURCES: JSON.stringify(resources),
  });

/** A file with a state in it. */
const saved = (name: string, state: unknown): string => {
  const file = join(project.folder, `${name}.json`);
  writeFileSync(file, JSON.stringify(state));
  return file;
};

const channel = (type: string, more: Json = {}) => ({
  type,
  displayName: "A",
  icon: "aVZC",
  ...more,
});

beforeAll(async () => {
  project = await emulatedProject(program);
  await project.succeed(["stack", "init", "other"]);
  await project.succeed(["stack", "select", "prod"]);
  cpSync(join(project.folder, "backend"), join(project.folder, "saved"), { recursive: true });
});
afterAll(() => project?.close());
beforeEach(async () => {
  rmSync(join(project.folder, "backend"), { recursive: true });
  cpSync(join(project.folder, "saved"), join(project.folder, "backend"), { recursive: true });
  await project.control("POST", "/reset");
});

const auth = [
  "Authentication",
  "auth",
  { name: "auth", basicAuth: { username: "u", password: "a-password" } },
];

test("a new resource of the old name does not take the object of one that was renamed", async () => {
  await done([auth]);
  const [object] = await project.objects("authentications");
  await project.succeed(["state", "rename", urnOf("Authentication", "auth"), "old", "--yes"]);
  const old = [
    "Authentication",
    "old",
    { name: "auth", basicAuth: { username: "u", password: "a-password" } },
  ];
  const { code, output } = await up([auth, old]);
  expect(code).not.toBe(0);
  expect(output).toContain('of this program has "auth", too');
  const other = [
    "Authentication",
    "auth",
    { name: "another", basicAuth: { username: "u", password: "b-password" } },
  ];
  await done([other, old]);
  expect(await project.objects("authentications")).toMatchObject([
    { id: object?.id, name: "auth" },
    { name: "another" },
  ]);
  await done([other, old], "--expect-no-changes");
});

test("a new resource of the old name does not take the object of one that was moved", async () => {
  await done([["Channel", "kiosk", channel("custom.kiosk")]]);
  const [before] = await project.objects("channels");
  await project.succeed([
    "state",
    "move",
    "--source",
    "prod",
    "--dest",
    "other",
    urnOf("Channel", "kiosk"),
    "--yes",
  ]);
  await done([["Channel", "kiosk", channel("custom.second")]]);
  expect(await project.objects("channels")).toMatchObject([
    before ?? {},
    { type: "custom.second" },
  ]);
  const { output } = await up([
    ["Channel", "kiosk", channel("custom.second")],
    ["Channel", "third", channel("custom.kiosk")],
  ]);
  expect(output).toMatch(/stands for urn:pulumi:other::shop::.*kiosk in the state of the stack/);
});

test("forced replacement keeps the id of objects without a mark", async () => {
  const description = "d".repeat(1023);
  const app = [
    "ClientApplication",
    "app",
    {
      name: "app",
      description,
      roles: [
        {
          name: "custom_agent",
          version: "v3",
          callback: "https://x.example.com/",
          notificationEmail: "a@b.example",
        },
      ],
    },
  ];
  const flow = [
    "Orchestration",
    "flow",
    { name: "flow", description, applications: { agentConfiguration: { agents: ["@app"] } } },
  ];
  await done([app, flow]);
  const ids = async () =>
    [
      ...(await project.objects("clientapplications")),
      ...(await project.objects("orchestrations")),
    ].map(({ id }) => id);
  const before = await ids();
  await done(
    [app, flow],
    "--replace",
    urnOf("Orchestration", "flow"),
    "--replace",
    urnOf("ClientApplication", "app"),
  );
  expect(await ids()).toEqual(before);
  await done([app, flow], "--expect-no-changes");
});

test("a retained object is taken over by the resource that gets its name again, and that is reported", async () => {
  await done([
    ["Channel", "kiosk", channel("custom.kiosk")],
    ["Channel", "stays", channel("custom.stays")],
  ]);
  // The two are made side by side, in either order.
  const before = (await project.objects("channels")).find(({ type }) => type === "custom.kiosk");
  expect(before).toBeDefined();
  await project.succeed(["state", "delete", urnOf("Channel", "kiosk"), "--yes"]);
  const output = await done([
    ["Channel", "kiosk", channel("custom.kiosk", { displayName: "B" })],
    ["Channel", "stays", channel("custom.stays")],
  ]);
  expect(output).toContain(`took over the channel "custom.kiosk" (id ${before?.id})`);
  expect(await project.objects("channels")).toHaveLength(2);
});

test("a wrong base path: destroy and refresh fail, and the state keeps everything", async () => {
  await done([["Channel", "kiosk", channel("custom.kiosk")]]);
  const state = project.state();
  const wrong = {
    CONVERSATION_BASE_URL: project.emulator.baseUrl.replace("/conversation/", "/wrong/"),
  };
  for (const command of ["destroy", "refresh"]) {
    const { code, output } = await project.pulumi([command, "--yes", "--skip-preview"], wrong);
    expect(code).not.toBe(0);
    expect(output).toContain("conversation:baseUrl (CONVERSATION_BASE_URL)");
  }
  expect(JSON.parse(project.state()).checkpoint.latest.resources).toHaveLength(
    JSON.parse(state).checkpoint.latest.resources.length,
  );
  expect(await project.objects("channels")).toHaveLength(1);
});

test("`pulumi state move` takes both halves of a replacement along, as the model of the engine does", async () => {
  await done([auth]);
  const exported = JSON.parse(await project.succeed(["stack", "export", "--stack", "prod"]));
  const { resources } = exported.deployment;
  const whole = resources.find(({ urn }: Json) => urn === urnOf("Authentication", "auth"));
  resources.push({ ...whole, id: "old-half", delete: true });
  await project.succeed(["stack", "import", "--stack", "prod", "--file", saved("both", exported)]);
  const urn = urnOf("Authentication", "auth");
  await project.succeed(["state", "move", "--source", "prod", "--dest", "other", "--yes", urn]);
  const after = async (stack: string): Promise<unknown[]> =>
    JSON.parse(await project.succeed(["stack", "export", "--stack", stack]))
      .deployment.resources.filter(
        (each: Json) => each.urn === urnOf("Authentication", "auth", stack),
      )
      .map(({ id }: Json) => id);
  expect(await after("prod")).toEqual([]);
  expect(await after("other")).toEqual([whole.id, "old-half"]);
});
