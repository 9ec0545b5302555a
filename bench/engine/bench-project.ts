import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { runCommand } from "../../cli/process/run-command.js";
import { environmentFor, type PulumiCli } from "../../cli/pulumi-cli/pulumi-cli.js";
import type { Emulator } from "../../emulator/index.js";
import { packageRoot } from "../../provider/kernel/package-version.js";
import { defaultScopes } from "../../provider/service/http/operations.js";
import { type ProgramName, programText } from "./programs.js";

/** One of the programs in a folder of its own, with a backend of its own. */
export interface BenchProject {
  readonly folder: string;
  readonly cli: PulumiCli;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  /** The service of a program that calls one. */
  readonly emulator?: Emulator;
}

/** Writes a project with one of the programs into a new folder. */
export const writeBenchProject = (folder: string, program: ProgramName): void => {
  const [root, modules] = [packageRoot(), join(folder, "node_modules")];
  mkdirSync(modules, { recursive: true });
  mkdirSync(join(folder, "backend"));
  symlinkSync(root, join(modules, "pulumi-conversation"));
  symlinkSync(join(root, "node_modules", "@pulumi"), join(modules, "@pulumi"));
  const description = JSON.stringify({ name: program, main: "index.js" });
  writeFileSync(join(folder, "Pulumi.yaml"), `name: ${program}\nruntime: nodejs\nmain: index.js\n`);
  writeFileSync(join(folder, "package.json"), description);
  writeFileSync(join(folder, "index.js"), programText(program));
};

/** Programs run on the Node that runs this, whatever else is on PATH. */
const ownNodeFirst = (): string => [dirname(process.execPath), process.env.PATH].join(delimiter);

/** What the commands of a project see. */
export const projectEnvironment = (
  folder: string,
  cli: PulumiCli,
  emulator: Emulator | undefined,
): NodeJS.ProcessEnv => ({
  ...environmentFor(cli, { ...process.env, PATH: ownNodeFirst() }),
  PULUMI_HOME: join(folder, "home"),
  PULUMI_BACKEND_URL: `file://${join(folder, "backend")}`,
  PULUMI_CONFIG_PASSPHRASE: "bench",
  // What is known of real buckets stays out of this, and this stays out of there.
  XDG_CACHE_HOME: join(folder, "cache"),
  ...(emulator ? emulatorEnvironment(emulator) : {}),
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
export const timePulumi = async (
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
