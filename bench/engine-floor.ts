import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { emulatorEnvironment } from "../cli/emulator-settings.js";
import { packageRoot } from "../cli/package-root.js";
import { runCommand } from "../cli/process/run-command.js";
import { ensurePulumi } from "../cli/pulumi-cli/ensure-pulumi.js";
import { environmentFor, type PulumiCli } from "../cli/pulumi-cli/pulumi-cli.js";
import type { Progress } from "../cli/terminal/progress.js";
import { type Emulator, startEmulator } from "../emulator/index.js";
import { type ProgramName, writeProject } from "./engine-program.js";
import type { EngineFigure } from "./figures.js";
import { kind } from "./session.js";

const resources = 200;
const shownLines = 15;
const longestMs = 90_000;
/** No second turn where the first took longer than this. */
const enoughMs = 60_000;

/** Where everything of one measurement is, and what its commands see. */
interface Scene {
  readonly folder: string;
  readonly cli: PulumiCli;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

const pulumi = async ({ cli, env, signal }: Scene, cwd: string, args: readonly string[]) => {
  const all = [...args, "--stack", "bench", "--non-interactive", "--color", "never"];
  const options = { cwd, env, signal, timeoutMs: longestMs };
  const start = performance.now();
  const ended = await runCommand(cli.command, all, options);
  const seconds = (performance.now() - start) / 1000;
  if (ended.code === 0) return seconds;
  throw new Error(`pulumi ${args[0]} failed:\n${ended.lastLines.slice(-shownLines).join("\n")}`);
};

/** Seconds of `pulumi up` on one of the programs, from nothing. */
const secondsOf = async (scene: Scene, program: ProgramName): Promise<number> => {
  const cwd = join(scene.folder, program);
  writeProject(cwd, packageRoot(), program, resources);
  await pulumi(scene, cwd, ["stack", "init", "--no-select"]);
  try {
    return await pulumi(scene, cwd, ["up", "--yes", "--skip-preview"]);
  } finally {
    rmSync(cwd, { recursive: true, force: true });
    rmSync(join(scene.folder, "backend", ".pulumi"), { recursive: true, force: true });
  }
};

/** Programs run on the Node that runs this, whatever else is on PATH. */
const ownNodeFirst = (): string => [dirname(process.execPath), process.env.PATH].join(delimiter);

const sceneIn = (
  folder: string,
  cli: PulumiCli,
  emulator: Emulator,
  signal: AbortSignal,
): Scene => {
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
const bestOf = async (scene: Scene, emulator: Emulator) => {
  let floorSeconds = Number.POSITIVE_INFINITY;
  let upSeconds = Number.POSITIVE_INFINITY;
  const start = performance.now();
  for (let round = 0; round === 0 || (round < 2 && performance.now() - start < enoughMs); round++) {
    await fetch(`${emulator.controlUrl}/reset`, { method: "POST" });
    floorSeconds = Math.min(floorSeconds, await secondsOf(scene, "floor"));
    upSeconds = Math.min(upSeconds, await secondsOf(scene, "ours"));
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
    const scene = sceneIn(folder, cli, emulator, signal);
    const { floorSeconds, upSeconds } = await bestOf(scene, emulator);
    const overFloor = upSeconds / floorSeconds;
    return { resources, pulumi: cli.version, floorSeconds, upSeconds, overFloor };
  } finally {
    await emulator.close();
    rmSync(folder, { recursive: true, force: true });
  }
};
