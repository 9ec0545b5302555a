import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensurePulumi } from "../../cli/pulumi-cli/ensure-pulumi.js";
import type { PulumiCli } from "../../cli/pulumi-cli/pulumi-cli.js";
import type { Progress } from "../../cli/terminal/progress.js";
import { type Emulator, startEmulator } from "../../emulator/index.js";
import type { CommandFigure, EngineFigure } from "../figures.js";
import { kind } from "../pacing/session.js";
import {
  type BenchProject,
  projectEnvironment,
  timePulumi,
  writeBenchProject,
} from "./bench-project.js";
import { callers, type ProgramName, programNames, resourceCount } from "./programs.js";

/** No second turn if the first took longer than this. */
const enoughMs = 90_000;

/** What is measured, in this order: everything is made, nothing changes, and everything goes. */
const commands = {
  up: ["up", "--yes", "--skip-preview"],
  preview: ["preview"],
  refresh: ["refresh", "--yes", "--skip-preview"],
  destroy: ["destroy", "--yes", "--skip-preview"],
} as const;

type Command = keyof typeof commands;

const commandNames: readonly Command[] = ["up", "preview", "refresh", "destroy"];

/** Fails if not every object was created: a fast failure is no result. */
const assertCreated = async ({ controlUrl }: Emulator): Promise<void> => {
  const stats: unknown = await (await fetch(`${controlUrl}/stats`)).json();
  const text = JSON.stringify(stats);
  const wanted = `"POST /${kind.collection}":{"accepted":${resourceCount},`;
  if (!text.includes(wanted)) throw new Error(`Not every object was created: ${text}`);
};

type Projects = Readonly<Record<ProgramName, BenchProject>>;

/** Seconds of one command, for each program. */
type Times = Readonly<Record<ProgramName, number>>;

const timesOf = async (projects: Projects, command: Command): Promise<Times> => {
  const times = { floor: 0, sameValues: 0, sameCalls: 0, ours: 0 };
  for (const program of programNames) {
    const project = projects[program];
    times[program] = await timePulumi(project, commands[command]);
    if (command === "up" && project.emulator) await assertCreated(project.emulator);
  }
  return times;
};

/** Every command on every program, from nothing to nothing: programs by turns, as the machine is not always as fast. */
const turn = async (projects: Projects): Promise<Readonly<Record<Command, Times>>> => {
  for (const project of Object.values(projects)) {
    if (project.emulator) await fetch(`${project.emulator.controlUrl}/reset`, { method: "POST" });
    await timePulumi(project, ["stack", "init", "--no-select"]);
  }
  const times = {
    up: await timesOf(projects, "up"),
    preview: await timesOf(projects, "preview"),
    refresh: await timesOf(projects, "refresh"),
    destroy: await timesOf(projects, "destroy"),
  };
  for (const project of Object.values(projects))
    await timePulumi(project, ["stack", "rm", "--yes"]);
  return times;
};

/** The best of two turns, since other work on the machine only ever slows down. */
const leastSeconds = async (projects: Projects) => {
  const start = performance.now();
  const turns = [await turn(projects)];
  if (performance.now() - start <= enoughMs) turns.push(await turn(projects));
  return (program: ProgramName, command: Command): number =>
    Math.min(...turns.map((times) => times[command][program]));
};

const figureOf = (command: Command, least: (program: ProgramName) => number): CommandFigure => {
  const seconds = least("ours");
  const [floorSeconds, sameValuesSeconds] = [least("floor"), least("sameValues")];
  const sameCallsSeconds = least("sameCalls");
  return {
    command,
    floorSeconds,
    sameValuesSeconds,
    sameCallsSeconds,
    seconds,
    overFloor: seconds / floorSeconds,
    overSameValues: seconds / sameValuesSeconds,
    overSameCalls: seconds / sameCallsSeconds,
  };
};

/** Where the projects are, and what they run with. */
interface Workspace {
  readonly folder: string;
  readonly cli: PulumiCli;
  readonly signal: AbortSignal;
}

/** The programs, each in a project of its own; those that call a service get one each. */
const projectsIn = (
  { folder: root, cli, signal }: Workspace,
  emulators: ReadonlyMap<ProgramName, Emulator>,
): Projects => {
  const made = (program: ProgramName): BenchProject => {
    const folder = join(root, program);
    writeBenchProject(folder, program);
    const emulator = emulators.get(program);
    const env = projectEnvironment(folder, cli, emulator);
    return { folder, cli, signal, env, ...(emulator ? { emulator } : {}) };
  };
  return {
    floor: made("floor"),
    sameValues: made("sameValues"),
    sameCalls: made("sameCalls"),
    ours: made("ours"),
  };
};

/** Pulumi's commands with this package on a service without limits, against the engine's own time. */
export const measureEngine = async (
  progress: Progress,
  signal: AbortSignal,
): Promise<EngineFigure> => {
  const cli = await ensurePulumi({ progress, signal });
  const folder = mkdtempSync(join(tmpdir(), "conversation-bench-"));
  const emulators = new Map<ProgramName, Emulator>();
  try {
    for (const program of callers) emulators.set(program, await startEmulator({ plan: "none" }));
    const least = await leastSeconds(projectsIn({ folder, cli, signal }, emulators));
    const figures = commandNames.map((command) =>
      figureOf(command, (program) => least(program, command)),
    );
    const [floorSeconds, upSeconds] = [least("floor", "up"), least("ours", "up")];
    const up = { floorSeconds, upSeconds, overFloor: upSeconds / floorSeconds };
    return { resources: resourceCount, pulumi: cli.version, ...up, commands: figures };
  } finally {
    for (const emulator of emulators.values()) await emulator.close();
    rmSync(folder, { recursive: true, force: true });
  }
};
