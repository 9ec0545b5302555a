import { type Emulator, startEmulator } from "pulumi-conversation/emulator";
import { afterEach, beforeEach, expect, test } from "vitest";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { type CliProject, cliProject } from "../support/cli-project.js";

type Json = Record<string, unknown>;

const program = `
const c = require("pulumi-conversation");
const { NAME, ADOPT, RETAIN } = process.env;
const options = RETAIN ? { retainOnDelete: true } : {};
new c.Authentication("auth", { name: NAME, ...(ADOPT ? { adopt: ADOPT } : {}), basicAuth: { username: "hub", password: "canary-password" } }, options);
`;

let emulator: Emulator;
let project: CliProject;
let others: CliProject[];

beforeEach(async () => {
  // What is hidden nobody can write back, so only what the service shows can be released.
  emulator = await startEmulator({ switches: { secrets: "echo" } });
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
  const { code, output } = await dev.tool(["orphans", "--release", "--id", String(left?.id)]);
  expect(code === 0 ? "" : output).toBe("");
  await run(up, { NAME: "sign-in", ADOPT: String(left?.id) }, dev);
  expect((await objects()).map(({ id }) => id)).toEqual([left?.id]);
});
