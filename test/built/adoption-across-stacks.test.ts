import { afterAll, beforeAll, expect, test } from "vitest";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { type CliProject, cliProject, withoutPace } from "../support/cli-project.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";

const program = `
const c = require("pulumi-conversation");
const { ADOPT, LONG } = process.env;
new c.Channel("web", { type: "custom.web", displayName: "Web", icon: "aVZC", ...(LONG ? { description: "d".repeat(1000) } : {}), ...(ADOPT ? { adopt: true } : {}) });
`;

let prod: EmulatedProject;
let dev: CliProject;

beforeAll(async () => {
  prod = await emulatedProject(program);
  const backend = `${prod.folder}/backend`;
  const settings = { ...emulatorEnvironment(prod.emulator), ...withoutPace };
  dev = await cliProject(program, settings, { stack: "dev", backend });
});

afterAll(async () => {
  dev?.remove();
  await prod?.close();
});

test("an object that another stack's state holds is not adopted, though it carries no mark", async () => {
  const up = ["up", "--yes", "--skip-preview"];
  await prod.succeed(up, { LONG: "1" });
  const { code, output } = await dev.pulumi(up, { LONG: "1", ADOPT: "1" });
  expect(output).toContain("Channel::web in the state of the stack");
  expect(code).not.toBe(0);
});
