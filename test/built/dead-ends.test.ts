import { type Emulator, startEmulator } from "pulumi-conversation/emulator";
import { afterEach, beforeEach, expect, test } from "vitest";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { type CliProject, cliProject } from "../support/cli-project.js";

type Json = Record<string, unknown>;

const program = `
const c = require("pulumi-conversation");
const { NAME, ADOPT, CHANNEL, RETAIN } = process.env;
const options = RETAIN ? { retainOnDelete: true } : {};
const channel = CHANNEL && new c.Channel("web", { type: "custom.web", displayName: CHANNEL, icon: "aVZC" }, { replaceOnChanges: ["displayName"], deleteBeforeReplace: true });
new c.Authentication("auth", { ...(NAME ? { name: NAME } : {}), ...(ADOPT ? { adopt: ADOPT } : {}), basicAuth: { username: "hub", password: "canary-password" } }, channel ? { replaceWith: [channel], deleteBeforeReplace: true } : options);
`;

let emulator: Emulator;
let project: CliProject;
let others: CliProject[];

beforeEach(async () => {
  emulator = await startEmulator();
  project = await cliProject(program, emulatorEnvironment(emulator));
  others = [];
});

afterEach(async () => {
  for (const each of [project, ...others]) each?.remove();
  await emulator?.close();
});

const objects = async (): Promise<Json[]> => {
  const snapshot = (await (await fetch(`${emulator.controlUrl}/snapshot`)).json()) as Json;
  return Object.values(snapshot.objects as Record<string, Json[]>).flat();
};

const run = async (
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  of = project,
): Promise<void> => {
  const { code, output } = await of.pulumi(args, environment);
  expect(code === 0 ? "" : output).toBe("");
};

const up = ["up", "--yes", "--skip-preview"];

test("a name that was kept stays under forced replacement", async () => {
  await run(up, { NAME: "Their sign-in" });
  const [made] = await objects();
  const urn = "urn:pulumi:prod::shop::pulumi-nodejs:dynamic/conversation:Authentication::auth";
  await run(["state", "delete", urn, "--yes"]);
  await run(up, { ADOPT: String(made?.id) });
  await run(up);
  expect((await objects()).map(({ name }) => name)).toEqual(["Their sign-in"]);
  await run([...up, "--replace", urn]);
  expect((await objects()).map(({ name }) => name)).toEqual(["Their sign-in"]);
});

test("an object that a removed stack left can be released from another stack of the project, as the refusal says", async () => {
  await run(up, { NAME: "sign-in", RETAIN: "1" });
  await run(["destroy", "--yes", "--skip-preview"]);
  const [left] = await objects();
  const backend = `${project.folder}/backend`;
  const dev = await cliProject(program, emulatorEnvironment(emulator), { stack: "dev", backend });
  others = [dev];
  await run(["stack", "rm", "prod", "--yes"]);
  const refused = await dev.pulumi(up, { NAME: "sign-in" });
  expect(refused.output).toContain(`orphans --release --id ${left?.id}`);
  const { code, errors } = await dev.tool(["orphans", "--release", "--id", String(left?.id)]);
  expect(code === 0 ? "" : errors).toBe("");
  await run(up, { NAME: "sign-in", ADOPT: String(left?.id) }, dev);
  expect((await objects()).map(({ id }) => id)).toEqual([left?.id]);
});

test("an object keeps its id under replaceWith and deleteBeforeReplace", async () => {
  await run(up, { CHANNEL: "A" });
  const before = (await objects()).map(({ id }) => id);
  await run(up, { CHANNEL: "B" });
  expect((await objects()).map(({ id }) => id)).toEqual(before);
});
