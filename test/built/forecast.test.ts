import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { markedProcesses } from "../../provider/pulumi-cli/processes.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { filesBelow } from "../support/left-behind.js";
import { withSlowness } from "../support/slowness.js";

/** Eight calls that follow each other at one call per second. */
const program = `
const c = require("pulumi-conversation");
const description = process.env.DESCRIBE;
const auth = new c.Authentication("auth", { description, basicAuth: { username: "hub", password: "hidden" } });
const role = { name: "custom_bot", version: "v3", callback: "https://x.example.com/", notificationEmail: "ops@example.com" };
const app = new c.ClientApplication("app", { description, roles: [{ ...role, authentication: auth }] });
if (process.env.STARTED) {
  require("node:fs").writeFileSync(process.env.STARTED, "");
  setTimeout(() => {}, 600_000);
}
for (let i = 0; i < 8; i++) new c.Participant("bot" + i, { description, type: "custom_bot", application: app });
`;

interface Made {
  readonly totalCalls: number;
  readonly criticalPath: readonly { readonly fromSeconds: number; readonly toSeconds: number }[];
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

/** From the first call to the last, as far as they hold each other up. */
const spanOf = ({ criticalPath }: Made): number =>
  (criticalPath.at(-1)?.toSeconds ?? 0) - (criticalPath[0]?.fromSeconds ?? 0);

test.each([
  ["creation", "up", "first"],
  ["change", "up", "second"],
  ["refresh", "refresh", "second"],
  ["deletion", "destroy", "second"],
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

test.each([
  ["SIGTERM", ["forecast", "--json"]],
  ["SIGHUP", ["drift", "--preview"]],
] as const)(
  "%s during the preview of %j ends Pulumi, with exit code 130 and nothing left",
  async (signal, args) => {
    const own = join(project.folder, signal);
    mkdirSync(own);
    const STARTED = join(project.folder, `${signal}-started`);
    const child = project.startTool(args, { TMPDIR: own, STARTED });
    const ended = once(child, "exit");
    const said = Promise.all([text(child.stdout), text(child.stderr)]);
    while (!existsSync(STARTED)) await pause(50);
    child.kill(signal);
    const [code] = await ended;
    const [out, err] = await said;
    expect(code).toBe(130);
    const asJson = args.some((arg) => arg === "--json");
    expect(out).toMatch(asJson ? /^\{\n {2}"error": .*"exitCode": 130\n {2}\}\n\}\n$/s : /^$/);
    expect(err).toMatch(/^error: Interrupted\. Nothing was written or left behind\.$/m);
    expect(markedProcesses("STARTED", new Set([STARTED]))).toEqual([]);
    const stored = filesBelow(join(project.folder, "backend"));
    expect([...stored.keys()].filter((name) => /locks.*json/.test(name))).toEqual([]);
    // What Pulumi itself leaves of every run that ends so, and its compiler's memory.
    const ours = readdirSync(own).filter((name) => !/^(pulumi-node-pipes|ts-node-)/.test(name));
    expect(ours).toEqual([]);
  },
);
