import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { z } from "zod";
import { makeFolders } from "../../provider/kernel/files.js";
import type { Printed } from "../../provider/kernel/json.js";
import { ownCommand } from "../../provider/kernel/package.js";
import { environmentOfPackages } from "../../provider/service/settings.js";
import { CommandFailure, messageOf } from "../command.js";
import { cachedPulumi } from "../get-pulumi/get-pulumi.js";
import { type PackedPackage, packedPackage } from "../packed-package.js";
import { oldNodeNote } from "../program-node.js";
import { type Ended, runCommand } from "../pulumi/processes.js";
import { findProgram } from "../pulumi/pulumi-cli.js";
import { wrapped } from "../terminal/columns.js";
import type { Progress } from "../terminal/progress.js";
import { type Pipeline, type ProjectFile, templateProject } from "./template-project.js";

/** Files that a folder may hold before a project is made there. */
const harmless = new Set([".git", ".gitattributes", "LICENSE", "LICENSE.md"]);

/** @throws CommandFailure if something is in the way; nothing has been made by then */
const assertRoom = (folder: string): void => {
  const isFile = existsSync(folder) && !statSync(folder).isDirectory();
  if (isFile)
    throw new CommandFailure(
      `${folder} is a file, not a folder. Nothing was created. Specify a new folder: ${ownCommand("init <folder>")}`,
    );
  const found = existsSync(folder) ? readdirSync(folder).filter((name) => !harmless.has(name)) : [];
  if (found.length === 0) return;
  const named = found.slice(0, 5).join(", ") + (found.length > 5 ? ", …" : "");
  throw new CommandFailure(
    `${folder} is not empty (${named}). Nothing was created. Specify a new folder: ${ownCommand("init <folder>")}`,
  );
};

/** Writes the files of a project. @throws CommandFailure if the folder cannot be written */
const writeProject = (folder: string, files: readonly ProjectFile[]): void => {
  try {
    for (const { path, text, executable } of files) {
      const file = join(folder, path);
      makeFolders(dirname(file));
      writeFileSync(file, text, { mode: executable ? 0o755 : 0o644, flag: "wx" });
    }
  } catch (error) {
    throw new CommandFailure(
      `Cannot write the project to ${folder}: ${messageOf(error)}. Specify another folder: ${ownCommand("init <folder>")}`,
    );
  }
};

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
  /** Whether npm fetches the packages. */
  readonly install: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly progress: Progress;
  /** Ends npm. */
  readonly signal?: AbortSignal | undefined;
}

/** A project name derived from the folder's. */
const nameFor = (folder: string): string =>
  basename(folder)
    .replace(/[^A-Za-z0-9_.-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, 100) || "conversation";

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
  { env, install, progress, signal }: InitOptions,
  packed: PackedPackage | undefined,
): Promise<readonly string[]> => {
  const left = [...(packed ? [packed.command] : []), "npm install"];
  const npm = findProgram("npm", env.PATH);
  if (!install || !npm) return left;
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
  const name = options.name ?? nameFor(folder);
  assertName(name);
  assertRoom(folder);
  const packed = packedPackage();
  const choices = { name, description, pipeline, dependency: packed?.dependency };
  const files = templateProject(choices);
  writeProject(folder, files);
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
