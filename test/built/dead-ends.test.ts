import { afterEach, beforeEach, expect, test } from "vitest";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { type CliProject, cliProject, withoutPace } from "../support/cli-project.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";

const program = `
const c = require("pulumi-conversation");
const { NAME, ADOPT, RETAIN } = process.env;
const options = RETAIN ? { retainOnDelete: true } : {};
new c.Authentication("auth", { name: NAME, ...(ADOPT ? { adopt: ADOPT } : {}), basicAuth: { username: "hub", password: "canary-password" } }, options);
`;

let project: EmulatedProject;
let dev: CliProject | undefined;

beforeEach(async () => {
  // What is hidden nobody can write back, so only what the service shows can be released.
  project = await emulatedProject(program, { switches: { secrets: "echo" } });
  dev = undefined;
});

afterEach(async () => {
  dev?.remove();
  await project?.close();
});

const up = ["up", "--yes", "--skip-preview"];

test("an object that a removed stack left can be released from another stack of the project, as the refusal says", async () => {
  await project.succeed(up, { NAME: "sign-in", RETAIN: "1" });
  await project.succeed(["destroy", "--yes", "--skip-preview"]);
  const [left] = await project.objects();
  const backend = `${project.folder}/backend`;
  const settings = { ...emulatorEnvironment(project.emulator), ...withoutPace };
  dev = await cliProject(program, settings, { stack: "dev", backend });
  await project.succeed(["stack", "rm", "prod", "--yes"]);
  const refused = await dev.pulumi(up, { NAME: "sign-in" });
  expect(refused.output).toContain(`orphans --release --id ${left?.id}`);
  const { code, output } = await dev.tool(["orphans", "--release", "--id", String(left?.id)]);
  expect(code === 0 ? "" : output).toBe("");
  await dev.succeed(up, { NAME: "sign-in", ADOPT: String(left?.id) });
  expect((await project.objects()).map(({ id }) => id)).toEqual([left?.id]);
});
