import { dirname, resolve } from "node:path";
import { z } from "zod";
import type { Printed } from "../../provider/kernel/json.js";
import { ownCommand } from "../../provider/kernel/package.js";
import { environmentOfPackages } from "../../provider/service/settings.js";
import { CommandFailure, messageOf } from "../command.js";
import { cachedPulumi } from "../get-pulumi/get-pulumi.js";
import { assertRoom, projectNameFor, writeNewFiles } from "../new-folder.js";
import { type PackedPackage, packedPackage } from "../packed-package.js";
import { oldNodeNote } from "../program-node.js";
import { type Ended, runCommand } from "../pulumi/processes.js";
import { findProgram } from "../pulumi/pulumi-cli.js";
import { wrapped } from "../terminal/columns.js";
import type { Progress } from "../terminal/progress.js";
import { type Pipeline, templateProject } from "./template-project.js";

const advice = `Specify a new folder: ${ownCommand("init <folder>")}`;

/** npm gives its reason first, after a code; the path of its log comes last. */
const npmReason = (lines: readonly string[]): string | undefined =>
  lines
    .filter((line) => /^npm (error|ERR!) /.test(line))
    .map((line) => line.replace(/^npm \S+ /, "").trim())
    .find((line) => !/^code |^\d+$/.test(line));

const reasonOf = ({ code, lastLines }: Ended): string | undefined => {
  if (code === 0) return undefined;
  const said = lastLines.map((line) => line.trim()).filter((line) => line !== "");
  return npmReason(said) ?? said.at(-1) ?? "no reason given";
};

const LONGEST_MS = 600_000;

/** Shape of what `init --json` prints. */
export const newProjectSchema = z.strictObject({
  folder: z.string(),
  name: z.string(),
  files: z.array(z.string()),
  next: z.array(z.string()).describe("The remaining commands, in order"),
});

export interface InitOptions {
  readonly folder: string;
  /** Default: the folder's name. */
  readonly name?: string;
  readonly description?: string;
  readonly pipeline?: Pipeline;
  /** npm fetches no packages. */
  readonly noInstall?: true;
  readonly env: NodeJS.ProcessEnv;
  readonly progress: Progress;
  /** Ends npm. */
  readonly signal?: AbortSignal | undefined;
}

/** Pulumi's rule for names of projects. @throws CommandFailure with exit code 2 */
const assertName = (name: string): void => {
  if (/^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/.test(name)) return;
  throw new CommandFailure(
    `--name: ${JSON.stringify(name)} is not a valid name. Use at most 100 letters, digits, "_", "-", and ".", and begin with a letter or digit.`,
    2,
  );
};

/** Fetches the packages; returns the commands for it if that was not asked for or failed. */
const fetchPackages = async (
  folder: string,
  { env, noInstall, progress, signal }: InitOptions,
  packed: PackedPackage | undefined,
): Promise<readonly string[]> => {
  const left = [...(packed ? [packed.command] : []), "npm install"];
  const npm = findProgram("npm", env.PATH);
  if (noInstall || !npm) return left;
  const doing = progress.step("Installing packages (npm install)");
  const limits = { cwd: folder, env: environmentOfPackages(env), signal, timeoutMs: LONGEST_MS };
  for (const args of [...(packed ? [packed.pack] : []), ["install", "--no-fund", "--no-audit"]]) {
    const reason = await runCommand(npm, args, limits).then(reasonOf, messageOf);
    if (signal?.aborted)
      throw new CommandFailure(
        `Interrupted. The project in ${folder} is incomplete. Remove it before you run the command again.`,
        130,
      );
    if (reason === undefined) continue;
    doing.failed(`npm ${args[0]} failed: ${reason}`);
    return left;
  }
  doing.done("Installed the packages");
  return [];
};

/** Commands that put a Pulumi on PATH that the quick start fetched; a note if there is none. */
const findPulumi = ({ env, progress }: InitOptions): readonly string[] => {
  if (findProgram("pulumi", env.PATH)) return [];
  const cached = cachedPulumi(env);
  if (cached) return [`export PATH="${dirname(cached)}:$PATH"`];
  const text =
    "pulumi is not on PATH. Install it before the next steps: https://www.pulumi.com/docs/install/";
  progress.note(wrapped(text, 80).join("\n"));
  return [];
};

/**
 * Makes a new Pulumi project with a conversation account: its files and packages.
 *
 * @throws CommandFailure if an option is wrong, the folder is not empty, or the person stops
 */
export const runInit = async (
  options: InitOptions,
): Promise<Printed<z.output<typeof newProjectSchema>>> => {
  const { env, progress, pipeline = "none" } = options;
  const { description = "A conversation account of the messaging hub" } = options;
  const folder = resolve(options.folder);
  const name = options.name ?? projectNameFor(folder);
  assertName(name);
  assertRoom(folder, advice);
  const packed = packedPackage();
  const choices = { name, description, pipeline, dependency: packed?.dependency };
  const files = templateProject(choices);
  writeNewFiles(folder, files, advice);
  progress.note(`Wrote ${files.length} files to ${folder}`);
  const packages = await fetchPackages(folder, options, packed);
  const tooOld = await oldNodeNote(env);
  if (tooOld !== undefined) progress.note(tooOld);
  const next = [
    ...packages,
    ...findPulumi(options),
    "pulumi stack init dev",
    "pulumi config set callbackSecret --secret",
    "npm test",
    "npm run emulator -- pulumi up",
  ];
  return { folder, name, files: files.map(({ path }) => path), next };
};
