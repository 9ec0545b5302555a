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

/** Resources with the same values as ours, whose provider makes the same calls; and ours. */
const programs = { sameCalls, ours } as const;

/** One of the programs in its own folder, with its own backend and emulator. */
interface BenchProject {
  readonly folder: string;
  readonly cli: PulumiCli;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly emulator: Emulator;
  /** Seconds of each command, the best of all turns: other work on the machine only ever slows down. */
  readonly best: Map<string, number>;
}

/** Writes a project with one of the programs into a new folder. */
const writeBenchProject = (folder: string, program: keyof typeof programs): void => {
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

/** The environment of the commands of a project. */
const projectEnvironment = (
  folder: string,
  cli: PulumiCli,
  emulator: Emulator,
): NodeJS.ProcessEnv => ({
  // Programs run on the same Node as this process, whatever else is on PATH.
  ...environmentFor(cli, {
    ...process.env,
    PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
  }),
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

const turns = 2;

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

/**
 * Every command on every program, from nothing to nothing: programs alternate, as the speed of the
 * machine varies.
 */
const runTurn = async (projects: readonly BenchProject[]): Promise<void> => {
  for (const project of projects) {
    await fetch(`${project.emulator.controlUrl}/reset`, { method: "POST" });
    await timePulumi(project, ["stack", "init", "--no-select"]);
  }
  for (const [command, args] of Object.entries(commands))
    for (const project of projects) {
      const seconds = await timePulumi(project, args);
      if (command === "up") await assertCreated(project.emulator);
      const before = project.best.get(command) ?? Number.POSITIVE_INFINITY;
      project.best.set(command, Math.min(before, seconds));
    }
  for (const project of projects) await timePulumi(project, ["stack", "rm", "--yes"]);
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
      projects.push({ folder: own, cli, signal, env, emulator, best: new Map() });
    }
    for (let turn = 1; turn <= turns; turn += 1) await runTurn(projects);
    const rows = Object.keys(commands).map((command) => {
      const [same = 0, own = 0] = projects.map(({ best }) => best.get(command) ?? 0);
      const ratio = `×${(own / same).toFixed(2)}`;
      return [command, `${same.toFixed(1)} s`, `${own.toFixed(1)} s`, ratio];
    });
    const title = `Pulumi ${cli.version}, ${resourceCount} resources, no limits`;
    return textTable([title, "the same calls", "pulumi-conversation", "over the calls"], rows);
  } finally {
    for (const { emulator } of projects) await emulator.close();
    rmSync(folder, { recursive: true, force: true });
  }
};
