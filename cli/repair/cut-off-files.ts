import { copyFile, lstat, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { readPlainFile } from "../../provider/kernel/files.js";
import { printedJson } from "../../provider/stacks/pulumi-queries.js";

/** What keeps Pulumi from reading a state of a file backend, in whole paths. */
export interface CutOffFiles {
  /** Attributes that are empty: without them Pulumi can read the file beside them. */
  readonly empty: readonly string[];
  /** States that are cut off, each with the newest copy that Pulumi keeps of it. */
  readonly damaged: readonly { readonly file: string; readonly copy: string }[];
  /** The stacks that these files are of. */
  readonly stacks: readonly string[];
}

/** Pulumi writes attributes in place: those of a run at work are empty for an instant. */
const againMs = 200;

/** A state of thousands of objects has some ten million bytes. */
const largestState = 512 * 1024 * 1024;

/** Of a plain file: a pipe has no size either. */
const sizeOf = async (path: string): Promise<number | undefined> => {
  const facts = await lstat(path).catch(() => undefined);
  return facts?.isFile() ? facts.size : undefined;
};

/** Whether a file is JSON to its end; undefined where it cannot be read. */
const isWhole = (path: string): boolean | undefined => {
  const text = readPlainFile(path, largestState);
  return text === undefined ? undefined : printedJson(text) !== undefined;
};

const areEmpty = (paths: readonly string[]): Promise<readonly string[]> =>
  Promise.all(paths.map(sizeOf)).then((sizes) => paths.filter((_, place) => sizes[place] === 0));

/** Those of the paths that are empty, and stay so. */
const leftEmpty = async (paths: readonly string[]): Promise<readonly string[]> => {
  const first = await areEmpty(paths);
  if (first.length === 0) return [];
  await pause(againMs);
  return areEmpty(first);
};

/** Copies that Pulumi keeps of a state, the newest first: of before its last write, and of before its last runs. */
const copiesOf = async (file: string): Promise<readonly string[]> => {
  const [root, project, stack] = [
    join(file, "../../.."),
    basename(dirname(file)),
    basename(file, ".json"),
  ];
  const folder = join(root, "backups", project, stack);
  const names = await readdir(folder).catch(() => []);
  const backups = names
    .filter((name) => name.endsWith(".json"))
    .sort()
    .reverse();
  return [`${file}.bak`, ...backups.map((name) => join(folder, name))];
};

/** The newest copy that is whole, of a state that is not, and stays so. */
const copyOfDamaged = async (file: string): Promise<string | undefined> => {
  if (isWhole(file) !== false) return undefined;
  await pause(againMs);
  if (isWhole(file) !== false) return undefined;
  for (const copy of await copiesOf(file)) if (isWhole(copy)) return copy;
  return undefined;
};

const damagedAmong = async (paths: readonly string[]): Promise<CutOffFiles["damaged"]> => {
  const copies = await Promise.all(paths.map(copyOfDamaged));
  return paths.flatMap((file, place) => {
    const copy = copies[place];
    return copy === undefined ? [] : [{ file, copy }];
  });
};

/**
 * Looks for files of a file backend that a run has left cut off, killed in the instant in which it wrote
 * them: attributes that are empty ("failed to load checkpoint: EOF"), and states that end in the middle.
 *
 * @param backend folder of the backend
 * @param stack default: all stacks of the project
 */
export const cutOffFiles = async (
  backend: string,
  project: string,
  stack?: string,
): Promise<CutOffFiles> => {
  const root = join(backend, ".pulumi");
  const names = await readdir(root, { recursive: true }).catch(() => []);
  const stackOf = (name: string): string | undefined => {
    const parts = name.split(sep);
    const at = parts.indexOf(project);
    return at < 0 ? undefined : parts[at + 1]?.replace(/\.json.*$/, "");
  };
  const ours = names.filter((name) => {
    const of = stackOf(name);
    return !name.includes(sep) || (of !== undefined && (stack === undefined || of === stack));
  });
  const whole = (name: string): string => join(root, name);
  const states = ours.filter((name) => name.startsWith(`stacks${sep}`) && name.endsWith(".json"));
  const empty = await leftEmpty(ours.filter((name) => name.endsWith(".attrs")).map(whole));
  const damaged = await damagedAmong(states.map(whole));
  const affected = new Set([...empty, ...damaged.map(({ file }) => file)]);
  const stacks = ours.filter((name) => affected.has(whole(name))).flatMap((n) => stackOf(n) ?? []);
  return { empty, damaged, stacks: [...new Set(stacks)] };
};

/** Removes attributes that are empty; what is gone by now is no error. */
export const removeEmpty = async (paths: readonly string[]): Promise<void> => {
  for (const path of await areEmpty(paths)) await rm(path, { force: true });
};

/** Puts the copy of a state in its place, at once or not at all. */
export const restoreState = async (file: string, copy: string): Promise<void> => {
  const draft = `${file}.${process.pid}.tmp`;
  await copyFile(copy, draft);
  // They describe the file that goes.
  await rm(`${file}.attrs`, { force: true });
  await rename(draft, file);
};
