import { afterAll, beforeAll, expect, test } from "vitest";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { withSlowness } from "../support/slowness.js";

/** Eight calls that follow each other at one call per second. */
const program = `
const c = require("pulumi-conversation");
const description = process.env.DESCRIBE;
const auth = new c.Authentication("auth", { description, basicAuth: { username: "hub", password: "hidden" } });
const role = { name: "custom_bot", version: "v3", callback: "https://x.example.com/", notificationEmail: "ops@example.com" };
const app = new c.ClientApplication("app", { description, roles: [{ ...role, authentication: auth }] });
for (let i = 0; i < 8; i++) new c.Participant("bot" + i, { description, type: "custom_bot", application: app });
`;

interface Made {
  readonly totalCalls: number;
  readonly totalSeconds: number;
}

let project: EmulatedProject;

beforeAll(async () => {
  const pace = { CONVERSATION_PLAN: "enterprise", CONVERSATION_BURST: "1" };
  project = await emulatedProject(program, { plan: "enterprise", burst: 1 }, pace);
});

afterAll(() => project?.close());

/** Runs the compiled command beside the project, with the Pulumi that the tests use. */
const forecast = async (...args: string[]): Promise<Made> => {
  const tool = project.tool(["forecast", "--json", ...args], { DESCRIBE: describe });
  const { code, output, errors } = await tool;
  expect(code, errors).toBe(0);
  return JSON.parse(output) as Made;
};

let describe = "first";

const log = async () => (await project.log()).filter(({ status }) => status < 300);

/** Runs Pulumi; gives the number of calls, and the seconds from the first call to the last. */
const real = async (operation: string) => {
  const before = (await log()).length;
  const flags = ["--yes", "--skip-preview"];
  const { code, output } = await project.pulumi([operation, ...flags], { DESCRIBE: describe });
  expect(code === 0 ? "" : output).toBe("");
  const times = (await log()).slice(before).map(({ at }) => Date.parse(at) / 1000);
  return { calls: times.length, seconds: Math.max(...times) - Math.min(...times) };
};

/** From the first call to the last: without Pulumi's own start. */
const spanOf = ({ totalSeconds }: Made): number => totalSeconds - 2;

test.each([
  ["creation", "up", "first"],
  ["deletion", "destroy", "first"],
])(
  "the forecast of a %s fits the real run: the same calls, within 2 seconds",
  async (_, operation, text) => {
    describe = text;
    const made = await forecast("--operation", operation);
    const { result, slowness } = await withSlowness(() => real(operation));
    const { calls, seconds } = result;
    expect(calls).toBe(made.totalCalls);
    const detail = `${spanOf(made)} s for ${seconds} s, slowness ${slowness}`;
    expect(spanOf(made) - seconds, detail).toBeLessThan(2);
    expect(seconds - spanOf(made), detail).toBeLessThan(2 * slowness);
  },
);
