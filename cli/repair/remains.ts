import { copyFile, lstat, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { readPlainFile } from "../../provider/kernel/files.js";
import { CommandFailure } from "../command.js";
import type { OpenStack, StackNames, StackOptions } from "../inventory/open-stack.js";
import { againMs, findBackend, lockInFolder, type StackLock } from "../pulumi/locks.js";
import { projectFile, projectName, pulumiPlace } from "../pulumi/project-files.js";
import { printedJson, runStackCommand } from "../pulumi/pulumi-queries.js";
import type { RepairStep } from "./repair-plan.js";

/** Files that keep Pulumi from reading a state of a file backend, as full paths. */
interface CutOffFiles {
  /** Attributes that are empty: without them Pulumi can read the file beside them. */
  readonly empty: readonly string[];
  /** Truncated states, each with the newest copy that Pulumi keeps of it. */
  readonly damaged: readonly { readonly file: string; readonly copy: string }[];
  /** The stacks that these files are of. */
  readonly stacks: readonly string[];
}

/** A state with thousands of objects has about ten million bytes. */
const largestState = 512 * 1024 * 1024;

/** Those of these paths that are empty regular files: a pipe, too, has size 0. */
const emptyAmong = async (paths: readonly string[]): Promise<readonly string[]> => {
  const facts = await Promise.all(paths.map((path) => lstat(path).catch(() => undefined)));
  return paths.filter((_, place) => facts[place]?.isFile() && facts[place].size === 0);
};

/** Those of these states that are not JSON to their end. */
const truncatedAmong = async (paths: readonly string[]): Promise<readonly string[]> =>
  paths.filter((path) => {
    const text = readPlainFile(path, largestState);
    return text !== undefined && printedJson(text) === undefined;
  });

/** What is so, and stays so: Pulumi writes some files in place. */
const stillSo = async (
  among: (paths: readonly string[]) => Promise<readonly string[]>,
  paths: readonly string[],
): Promise<readonly string[]> => {
  const first = await among(paths);
  if (first.length === 0) return [];
  await pause(againMs);
  return among(first);
};

/**
 * Copies that Pulumi keeps of a state, the newest first: from before its last write, and from
 * before its last runs.
 */
const copiesOf = async (file: string): Promise<readonly string[]> => {
  const [project, stack] = [basename(dirname(file)), basename(file, ".json")];
  const folder = join(file, "../../..", "backups", project, stack);
  const names = await readdir(folder).catch(() => []);
  const backups = names
    .filter((name) => name.endsWith(".json"))
    .sort()
    .reverse();
  return [`${file}.bak`, ...backups.map((name) => join(folder, name))];
};

/**
 * Finds files of a file backend that a run left truncated because it was killed while writing them:
 * empty attributes ("failed to load checkpoint: EOF"), and states that end in the middle.
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
  const attributes = ours.filter((name) => name.endsWith(".attrs"));
  const empty = await stillSo(emptyAmong, attributes.map(whole));
  const damaged: { file: string; copy: string }[] = [];
  for (const file of await stillSo(truncatedAmong, states.map(whole))) {
    const copies = await copiesOf(file);
    const copy = copies.find((each) => printedJson(readPlainFile(each, largestState) ?? ""));
    if (copy !== undefined) damaged.push({ file, copy });
  }
  const affected = new Set([...empty, ...damaged.map(({ file }) => file)]);
  const stacks = ours.filter((name) => affected.has(whole(name))).flatMap((n) => stackOf(n) ?? []);
  return { empty, damaged, stacks: [...new Set(stacks)] };
};

/** Replaces a state by its copy, atomically. */
const restoreState = async (file: string, copy: string): Promise<void> => {
  const draft = `${file}.${process.pid}.tmp`;
  await copyFile(copy, draft);
  // They describe the file that is replaced.
  await rm(`${file}.attrs`, { force: true });
  await rename(draft, file);
};

interface RemainsOptions extends StackOptions {
  readonly apply?: true;
  readonly ignoreLock?: true;
}

/** @throws CommandFailure if a run is, or may be, working on a stack */
const assertNotInUse = (
  lock: StackLock,
  { project, stack }: StackNames,
  { ignoreLock }: RemainsOptions,
): void => {
  const isInUse = lock.state === "unknown" || (lock.state === "locked" && !lock.isLeft);
  if (!isInUse || ignoreLock) return;
  throw new CommandFailure(
    `A run may be in progress on the stack ${project}/${stack}, so nothing was done: ${lock.why}. ` +
      "If you are sure that no run is in progress, try again with --ignore-lock.",
  );
};

/** @throws CommandFailure if a run is, or may be, working on a stack */
export const assertNoRun = async (
  stack: OpenStack,
  options: RemainsOptions,
): Promise<StackLock> => {
  const lock = await stack.readLock();
  assertNotInUse(lock, stack.names, options);
  return lock;
};

/**
 * Files that keep the state from being read; repaired on demand.
 *
 * @throws CommandFailure if a run is, or may be, working on their stack
 */
export const fileRemains = async (options: RemainsOptions): Promise<readonly RepairStep[]> => {
  const { folder = process.cwd(), env = process.env, stack, apply } = options;
  const place = pulumiPlace(folder, env, stack);
  const found = place && (await findBackend(place));
  const backend = found && "folder" in found ? found.folder : undefined;
  const file = projectFile(folder);
  const project = file && projectName(file);
  if (backend === undefined || project === undefined) return [];
  const { empty, damaged, stacks } = await cutOffFiles(backend, project, stack?.split("/").at(-1));
  for (const of of stacks)
    assertNotInUse(await lockInFolder(backend, project, of), { project, stack: of }, options);
  const done = apply ? { done: true } : {};
  if (apply) for (const path of await emptyAmong(empty)) await rm(path, { force: true });
  if (apply) for (const { file, copy } of damaged) await restoreState(file, copy);
  return [
    ...(empty.length > 0
      ? [{ action: "remove-cut-off-files" as const, files: empty, ...done }]
      : []),
    ...damaged.map((each) => ({ action: "restore-state" as const, ...each, ...done })),
  ];
};

/**
 * The lock that a killed run has left; removed on demand.
 *
 * @throws CommandFailure if a run is, or may be, working, or if the lock stays
 */
export const lockRemains = async (
  stack: OpenStack,
  options: RemainsOptions,
): Promise<readonly RepairStep[]> => {
  const { apply } = options;
  const lock = await assertNoRun(stack, options);
  if (lock.state === "free") return [];
  const { ok, said } = apply
    ? await runStackCommand(stack.place, ["cancel", "--yes"])
    : { ok: true, said: "" };
  if (!ok) throw new CommandFailure(`Cannot remove the lock: ${said}`);
  return [{ action: "cancel", by: lock.why, ...(apply ? { done: true } : {}) }];
};
