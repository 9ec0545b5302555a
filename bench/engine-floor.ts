import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { emulatorEnvironment } from "../cli/emulator-settings.js";
import { runCommand } from "../cli/process/run-command.js";
import { ensurePulumi } from "../cli/pulumi-cli/ensure-pulumi.js";
import { environmentFor, type PulumiCli } from "../cli/pulumi-cli/pulumi-cli.js";
import type { Progress } from "../cli/terminal/progress.js";
import { type Emulator, startEmulator } from "../emulator/index.js";
import { packageRoot } from "../provider/kernel/package-version.js";
import type { EngineFigure } from "./figures.js";
import { kind } from "./pacing/session.js";

const resources = 200;

/** A provider that does nothing: it answers at once with what it was given. */
const idle = (values: string): string => `
const pulumi = require("@pulumi/pulumi");
const provider = { create: async (inputs) => ({ id: inputs.name, outs: inputs }) };
class Small extends pulumi.dynamic.Resource {
  constructor(name, props) { super(provider, name, props); }
}
for (let n = 0; n < ${resources}; n++)
  new Small("small-" + n, ${values});
`;

/**
 * The programs that are compared: the smallest one with dynamic resources, one whose resources have the
 * same values as ours, the secret among them, and ours.
 */
const programs = {
  floor: idle('{ name: "bench-" + n, type: "basic", username: "hub", password: "no-real-secret" }'),
  sameValues: idle(
    `{ name: "bench-" + n, type: "basic", active: true, owner: "sameValues/bench/0123456789abcdef/small-" + n,
      basicAuth: { username: "hub", password: pulumi.secret("no-real-secret") } }`,
  ),
  ours: `
const { Authentication } = require("pulumi-conversation");
for (let n = 0; n < ${resources}; n++)
  new Authentication("small-" + n, { name: "bench-" + n, basicAuth: { username: "hub", password: "no-real-secret" } });
`,
} as const;

type ProgramName = keyof typeof programs;

/** Writes a project with one of the programs into a new folder. */
const writeProject = (folder: string, program: ProgramName): void => {
  const [root, modules] = [packageRoot(), join(folder, "node_modules")];
  mkdirSync(modules, { recursive: true });
  symlinkSync(root, join(modules, "pulumi-conversation"));
  symlinkSync(join(root, "node_modules", "@pulumi"), join(modules, "@pulumi"));
  const description = JSON.stringify({ name: program, main: "index.js" });
  writeFileSync(join(folder, "Pulumi.yaml"), `name: ${program}\nruntime: nodejs\nmain: index.js\n`);
  writeFileSync(join(folder, "package.json"), description);
  writeFileSync(join(folder, "index.js"), programs[program]);
};

const shownLines = 15;
const longestMs = 90_000;
/** No second turn where the first took longer than this. */
const enoughMs = 60_000;

/** Where everything of one measurement is, and what its commands see. */
interface Workspace {
  readonly folder: string;
  readonly cli: PulumiCli;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

const pulumi = async ({ cli, env, signal }: Workspace, cwd: string, args: readonly string[]) => {
  const all = [...args, "--stack", "bench", "--non-interactive", "--color", "never"];
  const options = { cwd, env, signal, timeoutMs: longestMs };
  const start = performance.now();
  const ended = await runCommand(cli.command, all, options);
  const seconds = (performance.now() - start) / 1000;
  if (ended.code === 0) return seconds;
  throw new Error(`pulumi ${args[0]} failed:\n${ended.lastLines.slice(-shownLines).join("\n")}`);
};

/** What is measured, in this order: everything is made, nothing changes, and everything goes. */
const commands = {
  up: ["up", "--yes", "--skip-preview"],
  preview: ["preview"],
  refresh: ["refresh", "--yes", "--skip-preview"],
  destroy: ["destroy", "--yes", "--skip-preview"],
} as const;

type Command = keyof typeof commands;

const commandNames: readonly Command[] = ["up", "preview", "refresh", "destroy"];

/** Seconds of each command. */
type Times = Readonly<Record<Command, number>>;

/** Each command on one of the programs, from nothing to nothing. */
const timesOf = async (
  workspace: Workspace,
  program: ProgramName,
  made?: () => Promise<void>,
): Promise<Times> => {
  const cwd = join(workspace.folder, program);
  writeProject(cwd, program);
  await pulumi(workspace, cwd, ["stack", "init", "--no-select"]);
  const times = { up: 0, preview: 0, refresh: 0, destroy: 0 };
  try {
    for (const command of commandNames) {
      times[command] = await pulumi(workspace, cwd, commands[command]);
      if (command === "up") await made?.();
    }
    return times;
  } finally {
    rmSync(cwd, { recursive: true, force: true });
    rmSync(join(workspace.folder, "backend", ".pulumi"), { recursive: true, force: true });
  }
};

/** Programs run on the Node that runs this, whatever else is on PATH. */
const ownNodeFirst = (): string => [dirname(process.execPath), process.env.PATH].join(delimiter);

const workspaceIn = (
  folder: string,
  cli: PulumiCli,
  emulator: Emulator,
  signal: AbortSignal,
): Workspace => {
  mkdirSync(join(folder, "backend"));
  const env = {
    ...environmentFor(cli, { ...process.env, PATH: ownNodeFirst() }),
    PULUMI_HOME: join(folder, "home"),
    PULUMI_BACKEND_URL: `file://${join(folder, "backend")}`,
    PULUMI_CONFIG_PASSPHRASE: "bench",
    // What is known of real buckets stays out of this, and this stays out of there.
    XDG_CACHE_HOME: join(folder, "cache"),
    ...emulatorEnvironment(emulator),
  };
  return { folder, cli, env, signal };
};

/** Fails where not every object was created: a fast failure is no result. */
const assertCreated = async (emulator: Emulator): Promise<void> => {
  const stats: unknown = await (await fetch(`${emulator.controlUrl}/stats`)).json();
  const text = JSON.stringify(stats);
  const wanted = `"POST /${kind.collection}":{"accepted":${resources},`;
  if (!text.includes(wanted)) throw new Error(`Not every object was created: ${text}`);
};

const turn = async (workspace: Workspace, emulator: Emulator) => {
  await fetch(`${emulator.controlUrl}/reset`, { method: "POST" });
  const floor = await timesOf(workspace, "floor");
  const sameValues = await timesOf(workspace, "sameValues");
  const ours = await timesOf(workspace, "ours", () => assertCreated(emulator));
  return { floor, sameValues, ours };
};

/** The best of two turns, since other work on the machine only ever slows down. */
const leastSeconds = async (workspace: Workspace, emulator: Emulator) => {
  const start = performance.now();
  const turns = [await turn(workspace, emulator)];
  if (performance.now() - start <= enoughMs) turns.push(await turn(workspace, emulator));
  return (program: ProgramName, command: Command): number =>
    Math.min(...turns.map((times) => times[program][command]));
};

/** Pulumi's commands with this package on a service without limits, against the engine's own time. */
export const measureEngine = async (
  progress: Progress,
  signal: AbortSignal,
): Promise<EngineFigure> => {
  const cli = await ensurePulumi({ progress, signal });
  const folder = mkdtempSync(join(tmpdir(), "conversation-bench-"));
  const emulator = await startEmulator({ plan: "none" });
  try {
    const workspace = workspaceIn(folder, cli, emulator, signal);
    const least = await leastSeconds(workspace, emulator);
    const figures = commandNames.map((command) => {
      const [floorSeconds, seconds] = [least("floor", command), least("ours", command)];
      const sameValuesSeconds = least("sameValues", command);
      const overFloor = seconds / floorSeconds;
      const overSameValues = seconds / sameValuesSeconds;
      return { command, floorSeconds, sameValuesSeconds, seconds, overFloor, overSameValues };
    });
    const [floorSeconds, upSeconds] = [least("floor", "up"), least("ours", "up")];
    const up = { floorSeconds, upSeconds, overFloor: upSeconds / floorSeconds };
    return { resources, pulumi: cli.version, ...up, commands: figures };
  } finally {
    await emulator.close();
    rmSync(folder, { recursive: true, force: true });
  }
};
