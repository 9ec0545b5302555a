import { type Emulator, startEmulator } from "pulumi-conversation/emulator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { type CliProject, cliProject } from "../support/cli-project.js";

const program = `
const c = require("pulumi-conversation");
const { ADOPT, LONG } = process.env;
new c.Channel("web", { type: "custom.web", displayName: "Web", icon: "aVZC", ...(LONG ? { description: "d".repeat(1000) } : {}), ...(ADOPT ? { adopt: true } : {}) });
`;

let emulator: Emulator;
let prod: CliProject;
let dev: CliProject;

beforeAll(async () => {
  emulator = await startEmulator();
  prod = await cliProject(program, emulatorEnvironment(emulator));
  const backend = `${prod.folder}/backend`;
  dev = await cliProject(program, emulatorEnvironment(emulator), { stack: "dev", backend });
});

afterAll(async () => {
  prod?.remove();
  dev?.remove();
  await emulator?.close();
});

test("an object that another stack's state holds is not adopted, though it carries no mark", async () => {
  const up = ["up", "--yes", "--skip-preview"];
  expect((await prod.pulumi(up, { LONG: "1" })).code).toBe(0);
  const { code, output } = await dev.pulumi(up, { LONG: "1", ADOPT: "1" });
  expect(output).toContain("Channel::web in the state of the stack");
  expect(code).not.toBe(0);
});
