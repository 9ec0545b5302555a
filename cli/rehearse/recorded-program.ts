import { hash } from "node:crypto";
import {
  type Dirent,
  existsSync,
  fstatSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { z } from "zod";
import { isObject, jsonIn } from "../../provider/kernel/json.js";
import { packageVersion } from "../../provider/kernel/package.js";
import {
  projectDocument,
  projectFile,
  stackFile,
} from "../../provider/pulumi-cli/project-files.js";
import { pulumiHomeIn } from "../../provider/pulumi-cli/pulumi-cli.js";
import type { OpenStack } from "../stack/open-stack.js";

/** SHA-256 in hexadecimal. */
export const digestSchema = z.string().regex(/^[0-9a-f]{64}$/);

/** JSON with its members in a fixed order, so that the same content gives the same text. */
const canonical = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(canonical);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, canonical(value[name])]),
  );
};

/** SHA-256 of a text or of bytes, in hexadecimal. */
const digestOf = (content: string | Uint8Array): string => hash("sha256", content);

/** The digest of a JSON value, regardless of the order of its members. */
export const jsonDigest = (value: unknown): string =>
  digestOf(JSON.stringify(canonical(value)) ?? "undefined");

/** A file by its device and inode numbers, whatever its name. */
type FileIdentity = string;

const identityIn = (
  stat: () => { isFile(): boolean; dev: bigint; ino: bigint } | undefined,
): FileIdentity | undefined => {
  try {
    const found = stat();
    return found?.isFile() ? `${found.dev}:${found.ino}` : undefined;
  } catch {
    // A closed descriptor, or a link that leads nowhere.
    return undefined;
  }
};

/** The file at a path, or behind a link there. */
export const fileIdentity = (path: string): FileIdentity | undefined =>
  identityIn(() => statSync(path, { bigint: true, throwIfNoEntry: false }));

/**
 * The files to which standard output and standard error of this process go. A shell makes them before the
 * process begins.
 */
const redirectedTo = (): readonly FileIdentity[] =>
  [1, 2].flatMap((descriptor) => identityIn(() => fstatSync(descriptor, { bigint: true })) ?? []);

/** Its version represents it. */
const thisPackage = "pulumi-conversation";

const dependencyLists = ["dependencies", "devDependencies", "optionalDependencies"];

const dependenciesOf = (folder: string): readonly string[] => {
  const file = join(folder, "package.json");
  const json = existsSync(file) ? jsonIn(readFileSync(file, "utf8")) : undefined;
  if (!isObject(json)) return [];
  return dependencyLists.flatMap((list) => {
    const named = json[list];
    return isObject(named) ? Object.keys(named) : [];
  });
};

/** The path of a package as found from a folder: there, or in a folder above. */
const installedAt = (folder: string, name: string): string | undefined => {
  const path = join(folder, "node_modules", name);
  if (lstatSync(path, { throwIfNoEntry: false })) return path;
  const parent = dirname(folder);
  return parent === folder ? undefined : installedAt(parent, name);
};

const linkedFolder = (folder: string, name: string): string | undefined => {
  const path = name === thisPackage ? undefined : installedAt(folder, name);
  if (path === undefined || !existsSync(path)) return undefined;
  const real = realpathSync(path);
  // Package managers also link what they install; that lies below a folder of this name.
  return /[/\\]node_modules[/\\]/.test(real) ? undefined : real;
};

/**
 * Folders of the packages on which a program depends and that are links to sources: those of the
 * same workspace, and those of `file:` and `link:`. No lock file covers their content.
 */
const linkedPackages = (folders: readonly string[]): readonly string[] => {
  const waiting = [...folders];
  const found = new Set<string>();
  for (const folder of waiting)
    for (const name of dependenciesOf(folder)) {
      const linked = linkedFolder(folder, name);
      if (linked === undefined || found.has(linked) || folders.includes(linked)) continue;
      found.add(linked);
      waiting.push(linked);
    }
  return [...found];
};

const source = /\.(?:[cm]?[jt]sx?|json)$/;

/** A quoted relative path, as programs use to import and open files. */
const relativePaths = /["'`](\.{1,2}\/[^"'`\n$*?<>|]+)["'`]/g;

const forms = ["ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs", "json"];

/** The files that an import path may mean: TypeScript imports name the compiled file. */
const candidates = (path: string): readonly string[] => [
  path,
  ...[".ts", ".tsx"].map((form) => path.replace(/\.jsx?$/, form)),
  path.replace(/\.([cm])js$/, ".$1ts"),
  ...forms.map((form) => `${path}.${form}`),
  ...forms.map((form) => join(path, `index.${form}`)),
];

const isFile = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isFile() === true;

const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** The files that a source names, relative to itself or to the folder where the program runs. */
const namedIn = (file: string, root: string): readonly string[] => {
  const paths = [...readFileSync(file, "utf8").matchAll(relativePaths)].map(
    ([, path = ""]) => path,
  );
  return paths.flatMap((path) =>
    [dirname(file), root].flatMap((from) => {
      const found = candidates(resolve(from, path)).find(isFile);
      return found === undefined ? [] : [found];
    }),
  );
};

/**
 * The files outside a program's folders that its sources name, transitively: modules, compiler
 * settings, files that are read. Without installed packages.
 *
 * @param files those of the program, absolute
 * @param root folder where the program runs
 */
const importedFiles = (files: readonly string[], root: string): readonly string[] => {
  const known = new Set(files);
  const waiting = [...files];
  const found: string[] = [];
  for (const file of waiting) {
    if (!source.test(file) || !isFile(file)) continue;
    for (const named of namedIn(file, root)) {
      if (known.has(named) || /[/\\]node_modules[/\\]/.test(named)) continue;
      known.add(named);
      waiting.push(named);
      found.push(named);
    }
  }
  return found;
};

/** A program as a record binds it. */
export const recordedProgramSchema = z.strictObject({
  /** Of this package. */
  version: z.string(),
  /** Digest of each file, by its path from the folder of the project. */
  files: z.record(z.string(), digestSchema),
  /** Paths of the files that the rehearsal itself wrote: they are never part of the program. */
  outputs: z.array(z.string()),
});

export type RecordedProgram = z.infer<typeof recordedProgramSchema>;

/** Folders that are generated from the others, or by every run. */
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

const contentDigest = (entry: Dirent, path: string): string => {
  if (!entry.isSymbolicLink()) return digestOf(readFileSync(path));
  const content = isFile(path) ? digestOf(readFileSync(path)) : "";
  return digestOf(`link ${readlinkSync(path)} ${content}`);
};

/**
 * The target folder of a link that leads outside the program's; installed packages do not count.
 */
const folderBehind = (entry: Dirent, path: string, root: string): string | undefined => {
  if (!entry.isSymbolicLink() || !isFolder(path)) return undefined;
  const [real, realRoot] = [realpathSync(path), realpathSync(root)];
  const isCounted = isWithin(realRoot, real) || isWithin(real, realRoot);
  return isCounted || real.split(sep).includes("node_modules") ? undefined : real;
};

/** The stack of the program, and what is not part of it although it may be in its folder. */
export interface ProgramSearchOptions {
  readonly stack: string;
  /** Absolute paths of folders in which tools keep what they need. */
  readonly toolFolders: readonly string[];
  /** Path of the existing or future record. */
  readonly recordFile: string;
  /** Files to which this process writes. */
  readonly written: readonly FileIdentity[];
  /** Files to which the rehearsal wrote, by their paths from the folder of the project. */
  readonly outputs: readonly string[];
}

/** Folders in which tools keep what they need: some pipelines have them in the folder of the project. */
const toolFoldersIn = (env: NodeJS.ProcessEnv, folder: string): readonly string[] =>
  [pulumiHomeIn(env), env.XDG_CACHE_HOME, env.npm_config_cache].flatMap((path) =>
    path ? [resolve(folder, path)] : [],
  );

/** A path with its real folder, even if it leads through links. */
const realPath = (path: string): string => {
  const folder = dirname(resolve(path));
  return existsSync(folder) ? join(realpathSync(folder), basename(path)) : resolve(path);
};

/** A file found in a folder, with its digest, or without one if it is an output. */
type FoundFile = readonly [path: string, content: string | undefined];

interface Search extends ProgramSearchOptions {
  readonly root: string;
  /** The record, with its real folder. */
  readonly record: string;
}

const isOutput = (path: string, { root, record, written, outputs }: Search): boolean => {
  if (outputs.includes(relativePath(root, path))) return true;
  if (basename(path) === basename(record) && realPath(path) === record) return true;
  if (written.length === 0) return false;
  const identity = fileIdentity(path);
  return identity !== undefined && written.includes(identity);
};

const filesBelow = (
  folder: string,
  search: Search,
  linked: readonly string[] = [],
): readonly FoundFile[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry): readonly FoundFile[] => {
    const path = join(folder, entry.name);
    if (leftOut.has(entry.name) || search.toolFolders.includes(path)) return [];
    if (entry.isDirectory()) return filesBelow(path, search, linked);
    const counts =
      (entry.isFile() || entry.isSymbolicLink()) && !otherStackFile(entry.name, search.stack);
    const content = () => (isOutput(path, search) ? undefined : contentDigest(entry, path));
    const own = counts ? [[relativePath(search.root, path), content()] as const] : [];
    const behind = folderBehind(entry, path, search.root);
    if (behind === undefined || linked.includes(behind)) return own;
    return [...own, ...filesBelow(path, search, [...linked, behind])];
  });

/**
 * The folder of the program, if `main` of the project file leads out of the folder of the project.
 */
const foldersOutside = (project: string): readonly string[] => {
  const root = dirname(project);
  const main = resolve(root, projectDocument(project).main ?? ".");
  const folder = isFolder(main) ? main : dirname(main);
  return isWithin(root, main) || !existsSync(folder) ? [] : [folder];
};

const lockFiles = [
  ...["package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock"],
  ...["bun.lock", "bun.lockb"],
];

/** The lock file of a workspace is in a folder above, within the same repository. */
const lockFileAbove = (folder: string): readonly string[] => {
  const found = lockFiles.map((name) => join(folder, name)).filter((path) => existsSync(path));
  const parent = dirname(folder);
  const isTop = parent === folder || existsSync(join(folder, ".git"));
  return found.length > 0 || isTop ? found : lockFileAbove(parent);
};

/**
 * The program as its files and the version of this package. It covers everything in the folder of
 * the project, in that of `main` if different, and in packages that are links to sources, and every
 * file elsewhere that one of these names by a path. It omits installed packages (represented
 * by the lock file, wherever that is), the configuration of other stacks, and what a rehearsal
 * writes.
 *
 * @param folder where the command runs: the project is there or above
 */
export const readProgram = (folder: string, options: ProgramSearchOptions): RecordedProgram => {
  const project = projectFile(folder);
  const root = project === undefined ? resolve(folder) : dirname(project);
  const record = realPath(options.recordFile);
  const search = { ...options, root, record };
  const outside = project === undefined ? [] : foldersOutside(project);
  const folders = [root, ...outside, ...linkedPackages([root, ...outside])];
  const found = folders.flatMap((each) => filesBelow(each, search));
  const own = found.flatMap(([path, content]) =>
    content === undefined ? [] : [[path, content] as const],
  );
  const imported = importedFiles(
    own.map(([path]) => resolve(root, path)),
    root,
  ).filter((path) => !folders.some((folder) => isWithin(folder, path)));
  const locks = lockFileAbove(root).filter((path) => !isWithin(root, path));
  const config = project && stackFile(project, options.stack);
  const configs = config && !isWithin(root, config) ? [config] : [];
  const others = [...imported, ...locks, ...configs]
    .filter((path) => !isOutput(path, search))
    .map((path) => [relativePath(root, path), digestOf(readFileSync(path))] as const);
  const outputs = found.flatMap(([path, content]) => (content === undefined ? [path] : []));
  const ofRecord = isWithin(root, record) ? [relativePath(root, record)] : [];
  return {
    version: packageVersion(),
    files: Object.fromEntries([...own, ...others]),
    outputs: [...new Set([...outputs, ...ofRecord])].toSorted(),
  };
};

/**
 * The program of a stack, as this process finds it.
 *
 * @param outputs of an earlier rehearsal, if there was one
 */
export const programOf = (
  { place: { folder }, names: { stack }, env }: Pick<OpenStack, "place" | "names" | "env">,
  recordFile: string,
  outputs: readonly string[] = [],
): RecordedProgram =>
  readProgram(folder, {
    ...{ stack, recordFile, outputs },
    toolFolders: toolFoldersIn(env, folder),
    written: redirectedTo(),
  });

/** The changes to the program, each a sentence without its period. */
export const programChanges = (
  { version, files }: RecordedProgram,
  now: RecordedProgram,
): readonly string[] => {
  const ofPackage =
    version === now.version ? [] : [`pulumi-conversation is ${now.version}; it was ${version}`];
  const ofFiles = [...new Set([...Object.keys(files), ...Object.keys(now.files)])]
    .toSorted()
    .flatMap((path) => {
      if (files[path] === now.files[path]) return [];
      if (files[path] === undefined) return [`${path} is new`];
      const isThere = now.files[path] !== undefined || now.outputs.includes(path);
      return [isThere ? `${path} changed` : `${path} was removed`];
    });
  return [...ofPackage, ...ofFiles];
};
