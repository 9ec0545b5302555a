import {
  type Dirent,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { packageVersion } from "../../../provider/kernel/package-version.js";
import { projectDocument, stackFile } from "../../pulumi-cli/project-document.js";
import { projectFile } from "../../pulumi-cli/stack-config.js";
import { digestOf, jsonDigest } from "./digest.js";
import { importedFiles } from "./imported-files.js";
import { linkedPackages } from "./linked-packages.js";

/** Folders that are made from the others, or by every run. */
const leftOut = new Set(["node_modules", ".git", ".pulumi", ".hg", ".svn"]);

/** The configuration of another stack: `Pulumi.<stack>.yaml`. */
const otherStackFile = (name: string, stack: string): boolean => {
  const [, of] = /^Pulumi\.(.+)\.(?:ya?ml|json)$/.exec(name) ?? [];
  return of !== undefined && of !== stack;
};

const relativePath = (root: string, path: string): string =>
  relative(root, path).split(sep).join("/");

const isWithin = (root: string, path: string): boolean =>
  path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);

const contentOf = (entry: Dirent, path: string): string => {
  if (!entry.isSymbolicLink()) return digestOf(readFileSync(path));
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  return `link ${readlinkSync(path)} ${isFile ? digestOf(readFileSync(path)) : ""}`;
};

/** The folder outside of the program's to which a link leads; what is installed does not count. */
const folderBehind = (entry: Dirent, path: string, root: string): string | undefined => {
  if (!entry.isSymbolicLink()) return undefined;
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return undefined;
  const [real, realRoot] = [realpathSync(path), realpathSync(root)];
  const isCounted = isWithin(realRoot, real) || isWithin(real, realRoot);
  return isCounted || real.split(sep).includes("node_modules") ? undefined : real;
};

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
  linked: readonly string[] = [],
): readonly (readonly [path: string, content: string])[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (leftOut.has(entry.name) || options.without.includes(path)) return [];
    if (entry.isDirectory()) return filesBelow(path, root, options, linked);
    const counts =
      (entry.isFile() || entry.isSymbolicLink()) && !otherStackFile(entry.name, options.stack);
    const own = counts ? [[relativePath(root, path), contentOf(entry, path)] as const] : [];
    const behind = folderBehind(entry, path, root);
    if (behind === undefined || linked.includes(behind)) return own;
    return [...own, ...filesBelow(path, root, options, [...linked, behind])];
  });

/** The folder of the program, where `main` of the project file leads out of the folder of the project. */
const foldersOutside = (project: string): readonly string[] => {
  const root = dirname(project);
  const main = resolve(root, projectDocument(project).main ?? ".");
  const isFolder = statSync(main, { throwIfNoEntry: false })?.isDirectory() === true;
  const folder = isFolder ? main : dirname(main);
  return isWithin(root, main) || !existsSync(folder) ? [] : [folder];
};

const lockFiles = [
  ...["package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock"],
  ...["bun.lock", "bun.lockb"],
];

/** The lock file of a workspace stands in a folder above, within the same repository. */
const lockFileAbove = (folder: string): readonly string[] => {
  const found = lockFiles.map((name) => join(folder, name)).filter((path) => existsSync(path));
  const parent = dirname(folder);
  const isTop = parent === folder || existsSync(join(folder, ".git"));
  return found.length > 0 || isTop ? found : lockFileAbove(parent);
};

/**
 * The program by its files: everything in the folder of the project, in that of `main` where it is
 * another, and in the packages that are links to sources, and every file elsewhere that one of these
 * names by a path; but for what is installed (the lock file stands for it, wherever it is) and the
 * configuration of other stacks; and the version of this package.
 *
 * @param folder where the command is run: the project is there or above
 */
export const programDigest = (folder: string, options: ProgramFiles): string => {
  const project = projectFile(folder);
  const root = project === undefined ? resolve(folder) : dirname(project);
  const outside = project === undefined ? [] : foldersOutside(project);
  const folders = [root, ...outside, ...linkedPackages([root, ...outside])];
  const own = new Map(folders.flatMap((each) => filesBelow(each, root, options)));
  const imported = importedFiles(
    [...own.keys()].map((path) => resolve(root, path)),
    root,
  ).filter((path) => !folders.some((folder) => isWithin(folder, path)));
  const locks = lockFileAbove(root).filter((path) => !isWithin(root, path));
  const config = project && stackFile(project, options.stack);
  const configs = config && !isWithin(root, config) ? [config] : [];
  const others = [...imported, ...locks, ...configs].map(
    (path) => [relativePath(root, path), digestOf(readFileSync(path))] as const,
  );
  const files = [...new Map([...own, ...others])].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return jsonDigest({ version: packageVersion(), files });
};
