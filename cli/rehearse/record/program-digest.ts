import { type Dirent, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { packageVersion } from "../../../provider/kernel/package-version.js";
import { projectFile } from "../../pulumi-cli/stack-config.js";
import { digestOf, jsonDigest } from "./digest.js";

/** Folders that are made from the others, or by every run. */
const leftOut = new Set(["node_modules", ".git", ".pulumi", ".hg", ".svn"]);

/** The configuration of another stack: `Pulumi.<stack>.yaml`. */
const otherStackFile = (name: string, stack: string): boolean => {
  const [, of] = /^Pulumi\.(.+)\.(?:ya?ml|json)$/.exec(name) ?? [];
  return of !== undefined && of !== stack;
};

const contentOf = (entry: Dirent, path: string): string =>
  entry.isSymbolicLink() ? `link ${readlinkSync(path)}` : digestOf(readFileSync(path));

interface ProgramFiles {
  readonly stack: string;
  /** Absolute paths that do not count, such as the record itself. */
  readonly without: readonly string[];
}

/** Folders in which tools keep what they need: some pipelines have them in the folder of the project. */
const toolFolders = ["PULUMI_HOME", "XDG_CACHE_HOME", "npm_config_cache"] as const;

/** What is no part of the program, although it may be in its folder. */
export const besideProgram = (
  env: NodeJS.ProcessEnv,
  folder: string,
  recordFile: string,
): readonly string[] => [
  resolve(recordFile),
  ...toolFolders.flatMap((name) => (env[name] ? [resolve(folder, env[name])] : [])),
];

const filesBelow = (
  folder: string,
  root: string,
  options: ProgramFiles,
): readonly (readonly [path: string, content: string])[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (leftOut.has(entry.name) || options.without.includes(path)) return [];
    if (entry.isDirectory()) return filesBelow(path, root, options);
    const counts =
      (entry.isFile() || entry.isSymbolicLink()) && !otherStackFile(entry.name, options.stack);
    return counts ? [[relative(root, path).split(sep).join("/"), contentOf(entry, path)]] : [];
  });

/**
 * The program by its files: everything in the folder of the project but what is installed (the lock file
 * stands for it) and the configuration of other stacks; and the version of this package.
 *
 * @param folder where the command is run: the project is there or above
 */
export const programDigest = (folder: string, options: ProgramFiles): string => {
  const project = projectFile(folder);
  const root = project === undefined ? resolve(folder) : dirname(project);
  const files = filesBelow(root, root, options).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return jsonDigest({ version: packageVersion(), files });
};
