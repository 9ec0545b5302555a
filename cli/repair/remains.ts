import { lstatSync } from "node:fs";
import { copyFile, lstat, readdir, rename, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join, sep } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { readPlainFile } from "../../provider/kernel/files.js";
import { isObject } from "../../provider/kernel/json.js";
import type { StackNames } from "../../provider/lifecycle/ownership/orphans.js";
import { CommandFailure, messageOf } from "../command.js";
import { type OpenStack, projectIn, type StackOptions } from "../inventory/open-stack.js";
import { isRunning } from "../pulumi/processes.js";
import { pulumiPlace } from "../pulumi/project-files.js";
import {
  backendFolder,
  type LockHolder,
  lockFiles,
  lockHolderIn,
  type PulumiPlace,
  printedJson,
  queryPulumi,
  runStackCommand,
} from "../pulumi/pulumi-queries.js";
import type { RepairStep } from "./schemas.js";

/** Files that keep Pulumi from reading a state of a file backend, as full paths. */
interface CutOffFiles {
  /** Attributes that are empty: without them Pulumi can read the file beside them. */
  readonly empty: readonly string[];
  /** Truncated states, each with the newest copy that Pulumi keeps of it. */
  readonly damaged: readonly { readonly file: string; readonly copy: string }[];
  /** The stacks that these files are of. */
  readonly stacks: readonly string[];
}

/** Pulumi writes attributes in place: those of a running operation are empty for an instant. */
const againMs = 200;

/** A state with thousands of objects has about ten million bytes. */
const largestState = 512 * 1024 * 1024;

/** The size of a regular file: a pipe, too, has size 0. */
const sizeOf = async (path: string): Promise<number | undefined> => {
  const facts = await lstat(path).catch(() => undefined);
  return facts?.isFile() ? facts.size : undefined;
};

/** Whether a file is JSON to its end; undefined if it cannot be read. */
const isWhole = (path: string): boolean | undefined => {
  const text = readPlainFile(path, largestState);
  return text === undefined ? undefined : printedJson(text) !== undefined;
};

const areEmpty = (paths: readonly string[]): Promise<readonly string[]> =>
  Promise.all(paths.map(sizeOf)).then((sizes) => paths.filter((_, place) => sizes[place] === 0));

/** The paths of files that are empty and stay so. */
const leftEmpty = async (paths: readonly string[]): Promise<readonly string[]> => {
  const first = await areEmpty(paths);
  if (first.length === 0) return [];
  await pause(againMs);
  return areEmpty(first);
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

/** The newest complete copy of a state that is truncated and stays so. */
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
  const empty = await leftEmpty(ours.filter((name) => name.endsWith(".attrs")).map(whole));
  const damaged = await damagedAmong(states.map(whole));
  const affected = new Set([...empty, ...damaged.map(({ file }) => file)]);
  const stacks = ours.filter((name) => affected.has(whole(name))).flatMap((n) => stackOf(n) ?? []);
  return { empty, damaged, stacks: [...new Set(stacks)] };
};

/** Removes empty attributes; a file that is already gone is no error. */
const removeEmpty = async (paths: readonly string[]): Promise<void> => {
  for (const path of await areEmpty(paths)) await rm(path, { force: true });
};

/** Replaces a state by its copy, atomically. */
const restoreState = async (file: string, copy: string): Promise<void> => {
  const draft = `${file}.${process.pid}.tmp`;
  await copyFile(copy, draft);
  // They describe the file that is replaced.
  await rm(`${file}.attrs`, { force: true });
  await rename(draft, file);
};

/** Whether the run that holds a lock has ended, as far as this machine can see. */
export type LockStanding =
  | { readonly state: "free" }
  /** Its run has ended. */
  | { readonly state: "left"; readonly by: string }
  | { readonly state: "unknown"; readonly why: string };

const standingOf = ({ pid, host, by }: LockHolder): LockStanding => {
  if (!Number.isInteger(pid)) return { state: "unknown", why: "the lock does not name its holder" };
  if (host !== hostname())
    return { state: "unknown", why: `its lock was acquired on another machine (${by})` };
  if (isRunning(pid))
    return { state: "unknown", why: `its lock belongs to a running process (${by})` };
  return { state: "left", by };
};

/** A new lock file is empty for an instant; one that stays so was cut off. */
const standingOfFile = async (file: string): Promise<LockStanding> => {
  const read = () => lockHolderIn(readPlainFile(file) ?? "");
  const holder = read() ?? (await pause(againMs).then(read));
  if (holder) return standingOf(holder);
  if (readPlainFile(file) !== undefined)
    return { state: "left", by: "a run that was interrupted while acquiring the lock" };
  // Its run may have ended since the folder was read.
  if (!lstatSync(file, { throwIfNoEntry: false })) return { state: "free" };
  return { state: "unknown", why: `its lock is unreadable: ${file}` };
};

/** Of several, the worst counts. */
const order = ["unknown", "left", "free"] as const;

/**
 * Whether a run is working on a stack of a file backend.
 *
 * @param backend its folder
 */
export const lockInFolder = async (
  backend: string,
  { project, stack }: StackNames,
): Promise<LockStanding> => {
  try {
    const files = await lockFiles(backend, project, stack);
    const standings = await Promise.all(files.map(standingOfFile));
    const byHope = order.flatMap((state) => standings.filter((each) => each.state === state));
    return byHope[0] ?? { state: "free" };
  } catch (error) {
    return { state: "unknown", why: `its locks are unreadable: ${messageOf(error)}` };
  }
};

/** The same for any backend: only a file backend says who holds a lock. */
const lockStanding = async ({ place, names, readLock }: OpenStack): Promise<LockStanding> => {
  const backend = await fileBackend(place);
  if (backend !== undefined) return lockInFolder(backend, names);
  const lock = await readLock();
  if (lock.state !== "locked") return lock;
  const why = `the backend reports that an update is in progress${lock.by ?? ""}`;
  return { state: "unknown", why };
};

interface RemainsOptions extends StackOptions {
  readonly apply?: true;
  readonly ignoreLock?: true;
}

/** The folder of a file backend; undefined for other backends, and if Pulumi does not say. */
const fileBackend = async ({ stack: _, ...place }: PulumiPlace): Promise<string | undefined> => {
  const answer = await queryPulumi(place, ["whoami", "--verbose", "--json"]);
  const found = "text" in answer ? printedJson(answer.text) : undefined;
  const url = isObject(found) && typeof found.url === "string" ? found.url : "";
  return url.startsWith("file://") ? backendFolder(url, place.folder) : undefined;
};

const refusal = (lock: LockStanding, name: string, ignoreLock: boolean): string | undefined => {
  if (lock.state !== "unknown" || ignoreLock) return undefined;
  return (
    `A run may be in progress on the stack ${name}, so nothing was done: ${lock.why}. ` +
    "If you are sure that no run is in progress, try again with --ignore-lock."
  );
};

/** @throws CommandFailure if a run is, or may be, working on a stack */
export const assertNoRun = async (
  stack: OpenStack,
  { ignoreLock }: RemainsOptions,
): Promise<LockStanding> => {
  const { project, stack: name } = stack.names;
  const lock = await lockStanding(stack);
  const refused = refusal(lock, `${project}/${name}`, ignoreLock === true);
  if (refused) throw new CommandFailure(refused);
  return lock;
};

/**
 * Files that keep the state from being read; repaired on demand.
 *
 * @throws CommandFailure if a run is, or may be, working on their stack
 */
export const fileRemains = async (options: RemainsOptions): Promise<readonly RepairStep[]> => {
  const { folder = process.cwd(), env = process.env, stack, apply, ignoreLock } = options;
  const place = pulumiPlace(folder, env, stack);
  const backend = place && (await fileBackend(place));
  const project = projectIn(folder);
  if (backend === undefined || project === undefined) return [];
  const { empty, damaged, stacks } = await cutOffFiles(backend, project, stack?.split("/").at(-1));
  for (const of of stacks) {
    const lock = await lockInFolder(backend, { project, stack: of });
    const refused = refusal(lock, `${project}/${of}`, ignoreLock === true);
    if (refused) throw new CommandFailure(refused);
  }
  const done = apply ? { done: true } : {};
  if (apply) await removeEmpty(empty);
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
  const by = lock.state === "left" ? lock.by : lock.why;
  const { ok, said } = apply
    ? await runStackCommand(stack.place, ["cancel", "--yes"])
    : { ok: true, said: "" };
  if (!ok) throw new CommandFailure(`Cannot remove the lock: ${said}`);
  return [{ action: "cancel", by, ...(apply ? { done: true } : {}) }];
};
