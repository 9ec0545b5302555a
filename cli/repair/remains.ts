import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { copyFile, lstat, readdir, rename, rm } from "node:fs/promises";
import { connect } from "node:net";
import { hostname } from "node:os";
import { basename, dirname, join, sep } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { readPlainFile } from "../../provider/kernel/files.js";
import { isObject } from "../../provider/kernel/json.js";
import type { StackNames } from "../../provider/lifecycle/ownership/orphans.js";
import {
  isInSight,
  isOwnProcess,
  isRunning,
  signalProcess,
  startOfProcess,
} from "../../provider/pulumi-cli/processes.js";
import { projectFile, pulumiPlace } from "../../provider/pulumi-cli/project-files.js";
import {
  backendFolder,
  isPulumi,
  type LockHolder,
  lockFiles,
  lockHolderIn,
  type ProcessFacts,
  type PulumiPlace,
  printedJson,
  processFacts,
  queryPulumi,
  runStackCommand,
} from "../../provider/pulumi-cli/pulumi-queries.js";
import { CommandFailure, messageOf } from "../command.js";
import { type OpenStack, projectIn, type StackOptions } from "../stack/open-stack.js";
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

/** What runs dynamic resources, or the plugin: as an executable, or as Pulumi runs its folder. */
const provider =
  /[\\/](cmd[\\/]dynamic-provider|pulumi-conversation[\\/]plugin)([\\/]|$)|[\\/]plugin[\\/]main\.js$/;

const isProvider = ({ args }: ProcessFacts): boolean => args.some((arg) => provider.test(arg));

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const answered = (is: boolean): void => {
      socket.destroy();
      resolve(is);
    };
    socket.once("connect", () => answered(true)).once("error", () => answered(false));
  });

/** Whether the engine that a provider serves is gone; its address is the last word of the command line. */
const isLeft = async ({ args }: ProcessFacts): Promise<boolean> => {
  const [, port] = /^127\.0\.0\.1:(\d+)$/.exec(args.at(-1) ?? "") ?? [];
  return port !== undefined && !(await listens(Number(port)));
};

/**
 * Processes of providers that a killed run of a project has left: they wait forever, and
 * calls that they sent may still be answered. Only on a system that lists its processes (Linux).
 *
 * @param folder folder of the project
 */
const leftProcesses = async (folder: string, project: string): Promise<readonly number[]> => {
  if (process.platform !== "linux") return [];
  const here = realpathSync(folder);
  const found: number[] = [];
  for (const pid of readdirSync("/proc").map(Number)) {
    const facts = Number.isInteger(pid) && isOwnProcess(pid) ? processFacts(pid) : undefined;
    if (!facts || facts.folder !== here || !isProvider(facts)) continue;
    const of = facts.env.PULUMI_PROJECT ?? facts.env.PULUMI_NODEJS_PROJECT;
    if ((of === undefined || of === project) && (await isLeft(facts))) found.push(pid);
  }
  return found;
};

const lookEveryMs = 50;
const patienceMs = 3000;

const isGoneWithin = async (pid: number, limitMs: number): Promise<boolean> => {
  const deadline = performance.now() + limitMs;
  while (isRunning(pid)) {
    if (performance.now() > deadline) return false;
    await pause(lookEveryMs);
  }
  return true;
};

/** Asks a process to end, and kills it if it does not. @returns whether it is gone */
const endProcess = async (pid: number): Promise<boolean> => {
  signalProcess(pid, "SIGINT");
  if (await isGoneWithin(pid, patienceMs)) return true;
  signalProcess(pid, "SIGKILL");
  return isGoneWithin(pid, patienceMs);
};

/** Whether the run that holds a lock is still alive, as far as this machine can see. */
export type LockStanding =
  | { readonly state: "free" }
  /** Its run is gone. */
  | { readonly state: "left"; readonly by: string }
  | { readonly state: "alive"; readonly by: string }
  | { readonly state: "unknown"; readonly why: string };

/** A new lock file is empty for an instant; one that stays so was cut off. */
/** A process that began this much later than the lock was taken is not the one that took it. */
const laterMs = 5000;

/** Another process may have got the same ID since. */
const isAlive = ({ pid, since }: LockHolder): boolean => {
  if (!isRunning(pid)) return false;
  const facts = processFacts(pid);
  if (facts === undefined || isPulumi(facts)) return true;
  // Packages and version managers give the CLI other names.
  const start = startOfProcess(pid);
  return start === undefined || !(start > since + laterMs);
};

const standingOf = (holder: LockHolder): LockStanding => {
  const { pid, host, since, by } = holder;
  if (!Number.isInteger(pid)) return { state: "unknown", why: "the lock does not name its holder" };
  if (host !== hostname())
    return { state: "unknown", why: `its lock was acquired on another machine (${by})` };
  if (isAlive(holder)) return { state: "alive", by };
  if (isInSight(since)) return { state: "left", by };
  const why = `its lock was acquired before this container started (${by}), and the container cannot see processes outside it`;
  return { state: "unknown", why };
};

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
const order = ["alive", "unknown", "left", "free"] as const;

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
  if (lock.state === "alive")
    return `A run is in progress on the stack ${name} (${lock.by}), so nothing was done. Wait until it ends.`;
  if (lock.state !== "unknown" || ignoreLock) return undefined;
  return (
    `The command cannot see whether a run is in progress on the stack ${name}: ${lock.why}. ` +
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
 * The processes and the lock that a killed run has left; removed on demand, the processes first, so
 * that nothing more is sent once the lock is gone.
 *
 * @throws CommandFailure if a run is, or may be, working, or if the lock stays
 */
export const lockRemains = async (
  stack: OpenStack,
  options: RemainsOptions,
): Promise<readonly RepairStep[]> => {
  const { apply, ignoreLock } = options;
  const before = await assertNoRun(stack, options);
  const file = projectFile(stack.place.folder);
  const folder = file ? dirname(file) : stack.place.folder;
  const steps: RepairStep[] = [];
  for (const pid of await leftProcesses(folder, stack.names.project)) {
    const done = apply && (await endProcess(pid));
    const outcome = done ? { done } : { done: false, reason: "the process did not exit" };
    steps.push({ action: "end-process", pid, ...(apply ? outcome : {}) });
  }
  // Processes may take long to end, and others may have repaired the stack and begun a run.
  const lock = apply && before.state !== "free" ? await assertNoRun(stack, options) : before;
  const isLeft = lock.state === "left" || (lock.state === "unknown" && ignoreLock === true);
  if (!isLeft) return steps;
  const by = lock.state === "left" ? lock.by : lock.why;
  const { ok, said } = apply
    ? await runStackCommand(stack.place, ["cancel", "--yes"])
    : { ok: true, said: "" };
  if (!ok) throw new CommandFailure(`Cannot remove the lock: ${said}`);
  return [...steps, { action: "cancel", by, ...(apply ? { done: true } : {}) }];
};
