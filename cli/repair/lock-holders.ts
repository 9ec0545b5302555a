import { lstatSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { readPlainFile } from "../../provider/kernel/files.js";
import type { StackNames } from "../../provider/lifecycle/ownership/orphans.js";
import { isPulumi, processFacts } from "../../provider/stacks/pulumi-process.js";
import {
  type LockHolder,
  lockHolderIn,
  namesInFolder,
  type StackLock,
} from "../../provider/stacks/stack-lock.js";
import { messageOf } from "../command.js";
import { isRunning, startOfProcess } from "../process/process-group.js";

/** Whether the run that holds a lock still lives, as far as this machine can see. */
export type LockStanding =
  | { readonly state: "free" }
  /** Its run is gone. */
  | { readonly state: "left"; readonly by: string }
  | { readonly state: "alive"; readonly by: string }
  | { readonly state: "unknown"; readonly why: string };

/** A lock file that was just made is empty for an instant; one that stays so was cut off. */
const againMs = 200;

/** A process that began so much later than the lock was taken is not the one that took it. */
const laterMs = 5000;

/** Another process may have got the number since. */
const isAlive = ({ pid, since }: LockHolder): boolean => {
  if (!isRunning(pid)) return false;
  const facts = processFacts(pid);
  if (facts === undefined || isPulumi(facts)) return true;
  // Packagers and version tools give the CLI other names.
  const start = startOfProcess(pid);
  return start === undefined || !(start > since + laterMs);
};

const standingOf = (holder: LockHolder): LockStanding => {
  const { pid, host, by } = holder;
  if (!Number.isInteger(pid))
    return { state: "unknown", why: "its lock does not tell whose it is" };
  if (host !== hostname())
    return { state: "unknown", why: `it was taken on another machine (${by})` };
  return { state: isAlive(holder) ? "alive" : "left", by };
};

const standingOfFile = async (file: string): Promise<LockStanding> => {
  const read = () => lockHolderIn(readPlainFile(file) ?? "");
  const holder = read() ?? (await pause(againMs).then(read));
  if (holder) return standingOf(holder);
  if (readPlainFile(file) !== undefined)
    return { state: "left", by: "a run that was cut off while it took it" };
  // Its run may have ended since the folder was read.
  if (!lstatSync(file, { throwIfNoEntry: false })) return { state: "free" };
  return { state: "unknown", why: `its lock cannot be read: ${file}` };
};

const standingsIn = async (folder: string): Promise<readonly LockStanding[]> => {
  try {
    const names = (await namesInFolder(folder)).filter((name) => name.endsWith(".json"));
    return await Promise.all(names.map((name) => standingOfFile(join(folder, name))));
  } catch (error) {
    return [{ state: "unknown", why: `its locks cannot be read: ${messageOf(error)}` }];
  }
};

/** The least hopeful of several counts. */
const order = ["alive", "unknown", "left", "free"] as const;

/**
 * Reads the locks of a stack in a file backend.
 *
 * @param backend its folder
 */
export const lockInFolder = async (
  backend: string,
  { project, stack }: StackNames,
): Promise<LockStanding> => {
  const locks = join(backend, ".pulumi", "locks");
  // The second is where backends are that were made before stacks belonged to projects.
  const folders = [join(locks, "organization", project, stack), join(locks, stack)];
  const standings = (await Promise.all(folders.map(standingsIn))).flat();
  return (
    order.flatMap((state) => standings.find((each) => each.state === state) ?? [])[0] ?? {
      state: "free",
    }
  );
};

/**
 * Whether a run is at work on a stack.
 *
 * @param backend folder of a file backend; undefined for other backends, which do not tell whose a lock is
 */
export const lockStanding = async (
  backend: string | undefined,
  names: StackNames,
  readLock: () => Promise<StackLock>,
): Promise<LockStanding> => {
  if (backend !== undefined) return lockInFolder(backend, names);
  const lock = await readLock();
  if (lock.state !== "locked") return lock;
  return {
    state: "unknown",
    why: `the backend says that an update is in progress${lock.by ?? ""}`,
  };
};
