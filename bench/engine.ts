import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { emulatorEnvironment } from "../cli/emulator-settings.js";
import { ensurePulumi } from "../cli/get-pulumi/get-pulumi.js";
import { runCommand } from "../cli/pulumi/processes.js";
import { environmentFor, ownPulumi, type PulumiCli } from "../cli/pulumi/pulumi-cli.js";
import { textTable } from "../cli/terminal/columns.js";
import { progressOn } from "../cli/terminal/progress.js";
import { type Emulator, startEmulator } from "../emulator/index.js";
import { packageRoot } from "../provider/kernel/package.js";
import { pointerTo, typeToken } from "../provider/kernel/pulumi.js";
import { authentication as kind } from "../provider/resources/authentication.js";
import { defaultScopes } from "../provider/service/operations.js";

/** Resources of every program. */
const resourceCount = 200;

const each = (statement: string): string =>
  `for (let n = 0; n < ${resourceCount}; n++) ${statement};\n`;

/** The values of our resources, as the engine sees them. */
const values = `{
  name: "bench-" + n, type: "basic", active: true, owner: "sameCalls/bench/0123456789abcdef/small-" + n,
  basicAuth: { username: "hub", password: pulumi.secret("no-real-secret") },
}`;

/** The provider in the state: a path into this build, as long as our pointer. */
const sameCallsPointer = (): string => {
  const path = JSON.stringify(join(__dirname, "same-calls.js"));
  const text = `exports.handler=()=>require(${path}).sameCalls(${JSON.stringify(kind.collection)});`;
  return `${text}//`.padEnd(pointerTo(kind.kind).length, "-");
};

const sameCalls = (): string => `
const pulumi = require("@pulumi/pulumi");
const empty = { created: undefined, modified: undefined };
const __provider = ${JSON.stringify(sameCallsPointer())};
class Small extends pulumi.CustomResource {
  constructor(name, props) { super("${typeToken(kind.kind)}", name, { ...empty, ...props, __provider }); }
}
${each(`new Small("small-" + n, ${values})`)}`;

const ours = (): string => `
const { ${kind.kind} } = require("pulumi-conversation");
${each(`new ${kind.kind}("small-" + n, {
  name: "bench-" + n, basicAuth: { username: "hub", password: "no-real-secret" } })`)}`;

/**
 * The texts of the programs that are compared, in this order: one whose resources have the same
 * values as ours, the secret among them, and whose provider makes the same calls; and ours.
 */
const programs = { sameCalls, ours } as const;

type ProgramName = keyof typeof programs;

/** One of the programs in its own folder, with its own backend. */
interface BenchProject {
  readonly program: ProgramName;
  readonly folder: string;
  readonly cli: PulumiCli;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly emulator: Emulator;
}

/** Writes a project with one of the programs into a new folder. */
const writeBenchProject = (folder: string, program: ProgramName): void => {
  const [root, modules] = [packageRoot(), join(folder, "node_modules")];
  mkdirSync(modules, { recursive: true });
  mkdirSync(join(folder, "backend"));
  symlinkSync(root, join(modules, "pulumi-conversation"));
  symlinkSync(join(root, "node_modules", "@pulumi"), join(modules, "@pulumi"));
  const description = JSON.stringify({ name: program, main: "index.js" });
  writeFileSync(join(folder, "Pulumi.yaml"), `name: ${program}\nruntime: nodejs\nmain: index.js\n`);
  writeFileSync(join(folder, "package.json"), description);
  writeFileSync(join(folder, "index.js"), programs[program]());
};

/** Programs run on the same Node as this process, whatever else is on PATH. */
const ownNodeFirst = (): string => [dirname(process.execPath), process.env.PATH].join(delimiter);

/** The environment of the commands of a project. */
const projectEnvironment = (
  folder: string,
  cli: PulumiCli,
  emulator: Emulator,
): NodeJS.ProcessEnv => ({
  ...environmentFor(cli, { ...process.env, PATH: ownNodeFirst() }),
  ...ownPulumi({
    home: join(folder, "home"),
    backend: join(folder, "backend"),
    passphrase: "bench",
  }),
  // Keeps real bucket data out of the benchmark, and the benchmark out of that data.
  XDG_CACHE_HOME: join(folder, "cache"),
  ...emulatorEnvironment(emulator),
  // The emulator has no limit: ours must not keep to those of a plan.
  CONVERSATION_BURST: String(10 * resourceCount),
  CONVERSATION_SCOPE: defaultScopes.join(" "),
});

const shownLines = 15;
const longestMs = 90_000;

/**
 * Runs the CLI on the one stack of a project.
 *
 * @returns how many seconds it took
 * @throws Error with the last lines of a command that failed
 */
const timePulumi = async (
  { folder, cli, env, signal }: BenchProject,
  args: readonly string[],
): Promise<number> => {
  const all = [...args, "--stack", "bench", "--non-interactive", "--color", "never"];
  const options = { cwd: folder, env, signal, timeoutMs: longestMs };
  const start = performance.now();
  const ended = await runCommand(cli.command, all, options);
  const seconds = (performance.now() - start) / 1000;
  if (ended.code === 0) return seconds;
  throw new Error(`pulumi ${args[0]} failed:\n${ended.lastLines.slice(-shownLines).join("\n")}`);
};

/** No second turn if the first took longer than this. */
const enoughMs = 90_000;

/** The measured commands, in order: create everything, change nothing, delete everything. */
const commands = {
  up: ["up", "--yes", "--skip-preview"],
  preview: ["preview"],
  refresh: ["refresh", "--yes", "--skip-preview"],
  destroy: ["destroy", "--yes", "--skip-preview"],
} as const;

/** Fails if not every object was created: a fast failure is no result. */
const assertCreated = async ({ controlUrl }: Emulator): Promise<void> => {
  const stats: unknown = await (await fetch(`${controlUrl}/stats`)).json();
  const text = JSON.stringify(stats);
  const wanted = `"POST /${kind.collection}":{"accepted":${resourceCount},`;
  if (!text.includes(wanted)) throw new Error(`Not every object was created: ${text}`);
};

/** Seconds of a command, by program and command. */
type Times = ReadonlyMap<string, number>;

const timeKey = (program: ProgramName, command: string): string => `${program} ${command}`;

/**
 * Every command on every program, from nothing to nothing: programs alternate, as the speed of the
 * machine varies.
 */
const turn = async (projects: readonly BenchProject[]): Promise<Times> => {
  for (const project of projects) {
    await fetch(`${project.emulator.controlUrl}/reset`, { method: "POST" });
    await timePulumi(project, ["stack", "init", "--no-select"]);
  }
  const times = new Map<string, number>();
  for (const [command, args] of Object.entries(commands))
    for (const project of projects) {
      times.set(timeKey(project.program, command), await timePulumi(project, args));
      if (command === "up") await assertCreated(project.emulator);
    }
  for (const project of projects) await timePulumi(project, ["stack", "rm", "--yes"]);
  return times;
};

/** The best of two turns, since other work on the machine only ever slows down. */
const leastSeconds = async (projects: readonly BenchProject[]) => {
  const start = performance.now();
  const turns = [await turn(projects)];
  if (performance.now() - start <= enoughMs) turns.push(await turn(projects));
  return (program: ProgramName, command: string): number =>
    Math.min(...turns.map((times) => times.get(timeKey(program, command)) ?? Number.NaN));
};

/**
 * Pulumi's commands with this package on a service without limits, against a provider that makes the
 * same calls.
 */
export const measureEngine = async (signal: AbortSignal): Promise<readonly string[]> => {
  const cli = await ensurePulumi({ progress: progressOn(process.stderr), signal });
  const folder = mkdtempSync(join(tmpdir(), "conversation-bench-"));
  const projects: BenchProject[] = [];
  try {
    for (const program of ["sameCalls", "ours"] as const) {
      const own = join(folder, program);
      writeBenchProject(own, program);
      const emulator = await startEmulator({ plan: "none" });
      const env = projectEnvironment(own, cli, emulator);
      projects.push({ program, folder: own, cli, signal, env, emulator });
    }
    const least = await leastSeconds(projects);
    const rows = Object.keys(commands).map((command) => {
      const [same, own] = [least("sameCalls", command), least("ours", command)];
      return [
        command,
        `${same.toFixed(1)} s`,
        `${own.toFixed(1)} s`,
        `×${(own / same).toFixed(2)}`,
      ];
    });
    const title = `Pulumi ${cli.version}, ${resourceCount} resources, no limits`;
    return textTable([title, "the same calls", "pulumi-conversation", "over the calls"], rows);
  } finally {
    for (const { emulator } of projects) await emulator.close();
    rmSync(folder, { recursive: true, force: true });
  }
};
