import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { emulatorEnvironment } from "../cli/emulator-settings.js";
import { packageRoot } from "../cli/package-root.js";
import { runCommand } from "../cli/process/run-command.js";
import { ensurePulumi } from "../cli/pulumi-cli/ensure-pulumi.js";
import { environmentFor, type PulumiCli } from "../cli/pulumi-cli/pulumi-cli.js";
import type { Progress } from "../cli/terminal/progress.js";
import { type Emulator, startEmulator } from "../emulator/index.js";
import type { EngineFigure } from "./figures.js";
import { kind } from "./pacing/session.js";

const resources = 200;

/** The programs that are compared: the smallest one with dynamic resources, which creates at once, and ours. */
const programs = {
  floor: `
const pulumi = require("@pulumi/pulumi");
const provider = { create: async (inputs) => ({ id: inputs.name, outs: inputs }) };
class Small extends pulumi.dynamic.Resource {
  constructor(name, props) { super(provider, name, props); }
}
for (let n = 0; n < ${resources}; n++)
  new Small("small-" + n, { name: "bench-" + n, type: "basic", username: "hub", password: "no-real-secret" });
`,
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

/** Seconds of `pulumi up` on one of the programs, from nothing. */
const secondsOf = async (workspace: Workspace, program: ProgramName): Promise<number> => {
  const cwd = join(workspace.folder, program);
  writeProject(cwd, program);
  await pulumi(workspace, cwd, ["stack", "init", "--no-select"]);
  try {
    return await pulumi(workspace, cwd, ["up", "--yes", "--skip-preview"]);
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

/** The best of two turns, since other work on the machine only ever slows down. */
const bestOf = async (workspace: Workspace, emulator: Emulator) => {
  let floorSeconds = Number.POSITIVE_INFINITY;
  let upSeconds = Number.POSITIVE_INFINITY;
  const start = performance.now();
  for (let round = 0; round === 0 || (round < 2 && performance.now() - start < enoughMs); round++) {
    await fetch(`${emulator.controlUrl}/reset`, { method: "POST" });
    floorSeconds = Math.min(floorSeconds, await secondsOf(workspace, "floor"));
    upSeconds = Math.min(upSeconds, await secondsOf(workspace, "ours"));
    await assertCreated(emulator);
  }
  return { floorSeconds, upSeconds };
};

/** `pulumi up` with this package on a service without limits, against the engine's own time. */
export const measureEngine = async (
  progress: Progress,
  signal: AbortSignal,
): Promise<EngineFigure> => {
  const cli = await ensurePulumi({ progress, signal });
  const folder = mkdtempSync(join(tmpdir(), "conversation-bench-"));
  const emulator = await startEmulator({ plan: "none" });
  try {
    const workspace = workspaceIn(folder, cli, emulator, signal);
    const { floorSeconds, upSeconds } = await bestOf(workspace, emulator);
    const overFloor = upSeconds / floorSeconds;
    return { resources, pulumi: cli.version, floorSeconds, upSeconds, overFloor };
  } finally {
    await emulator.close();
    rmSync(folder, { recursive: true, force: true });
  }
};
