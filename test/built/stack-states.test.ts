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
  `urn:pulumi:${stack}::shop::${project.token(kind)}::${name}`;

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

const authentication = (name: string, password: string) => ({
  ...{ name, basicAuth: { username: "u", password } },
});
const auth = ["Authentication", "auth", authentication("auth", "a-password")];
const kiosk = ["Channel", "kiosk", channel("custom.kiosk")];
const stays = ["Channel", "stays", channel("custom.stays")];
// No mark fits in beside these descriptions.
const description = "d".repeat(1023);
const role = { callback: "https://x.example.com/", notificationEmail: "a@b.example" };
const roles = [{ ...role, name: "custom_agent", version: "v3" }];
const app = ["ClientApplication", "app", { name: "app", description, roles }];
const applications = { agentConfiguration: { agents: ["@app"] } };
const flow = ["Orchestration", "flow", { name: "flow", description, applications }];

/** What each test finds. */
const unmarked = [app, flow];
const others = [stays, ...unmarked];
let snapshot: unknown;

beforeAll(async () => {
  project = await emulatedProject(program);
  await project.succeed(["stack", "init", "other"]);
  await project.succeed(["stack", "select", "prod"]);
  await done([auth, kiosk, ...others]);
  snapshot = await project.control("GET", "/snapshot");
  cpSync(join(project.folder, "backend"), join(project.folder, "saved"), { recursive: true });
});
afterAll(() => project?.close());
beforeEach(async () => {
  rmSync(join(project.folder, "backend"), { recursive: true });
  cpSync(join(project.folder, "saved"), join(project.folder, "backend"), { recursive: true });
  await project.control("PUT", "/snapshot", snapshot);
});

/** The channel of the kiosk; those that are made side by side come in either order. */
const kioskNow = async () =>
  (await project.objects("channels")).find(({ type }) => type === "custom.kiosk");

test("a new resource of the old name does not take the object of one that was renamed", async () => {
  const [object] = await project.objects("authentications");
  await project.succeed(["state", "rename", urnOf("Authentication", "auth"), "old", "--yes"]);
  const old = ["Authentication", "old", authentication("auth", "a-password")];
  const { code, output } = await up([auth, old, kiosk, ...others]);
  expect(code).not.toBe(0);
  expect(output).toContain('also has "auth"');
  const another = ["Authentication", "auth", authentication("another", "b-password")];
  await done([another, old, kiosk, ...others]);
  expect(await project.objects("authentications")).toMatchObject([
    { id: object?.id, name: "auth" },
    { name: "another" },
  ]);
  await done([another, old, kiosk, ...others], "--expect-no-changes");
});

test("a new resource of the old name does not take the object of one that was moved", async () => {
  const before = await kioskNow();
  expect(before).toBeDefined();
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
  const second = ["Channel", "kiosk", channel("custom.second")];
  await done([auth, second, ...others]);
  expect(await kioskNow()).toEqual(before);
  expect(await project.objects("channels")).toHaveLength(3);
  const third = ["Channel", "third", channel("custom.kiosk")];
  const { output } = await up([auth, second, third, ...others]);
  expect(output).toMatch(/belongs to urn:pulumi:other::shop::.*kiosk in the state of the stack/);
});

test("`pulumi state move` takes both halves of a replacement along, as the model of the engine does", async () => {
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
