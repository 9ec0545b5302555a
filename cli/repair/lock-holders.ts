import { readdir, readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isObject } from "../../provider/kernel/json.js";
import type { StackNames } from "../../provider/lifecycle/ownership/orphans.js";
import { isPulumi, processFacts } from "../../provider/stacks/pulumi-process.js";
import { printedJson } from "../../provider/stacks/pulumi-queries.js";
import type { StackLock } from "../../provider/stacks/stack-lock.js";
import { isRunning } from "../process/process-group.js";

/** Whether the run that holds a lock still lives, as far as this machine can see. */
export type LockStanding =
  | { readonly state: "free" }
  /** Its run is gone. */
  | { readonly state: "left"; readonly by: string }
  | { readonly state: "alive"; readonly by: string }
  | { readonly state: "unknown"; readonly why: string };

/** The lock of one run, as its file tells. */
interface LockHolder {
  readonly pid: number;
  readonly host: string;
  readonly by: string;
}

/** A lock file that was just made is empty for an instant; one that stays so was cut off. */
const againMs = 200;

const holderIn = (text: string): LockHolder | undefined => {
  const lock = printedJson(text);
  if (!isObject(lock)) return undefined;
  const { pid, hostname: host, username, timestamp } = lock;
  const since = String(timestamp).slice(0, 19);
  return {
    pid: Number(pid),
    host: String(host),
    by: `${username}@${host}, process ${pid}, since ${since}Z`,
  };
};

const readHolder = async (file: string): Promise<LockHolder | undefined> => {
  const read = async () => holderIn(await readFile(file, "utf8").catch(() => ""));
  const found = await read();
  if (found) return found;
  await pause(againMs);
  return read();
};

/** Another process may have got the number since. */
const isAlive = (pid: number): boolean => {
  if (!Number.isInteger(pid) || !isRunning(pid)) return false;
  const facts = processFacts(pid);
  return facts === undefined || isPulumi(facts);
};

const standingOf = (holder: LockHolder | undefined): LockStanding => {
  if (!holder) return { state: "left", by: "a run that was cut off while it took it" };
  const { pid, host, by } = holder;
  if (host !== hostname())
    return { state: "unknown", why: `it was taken on another machine (${by})` };
  return { state: isAlive(pid) ? "alive" : "left", by };
};

/** The least hopeful of several counts. */
const order = ["alive", "unknown", "left", "free"] as const;

/** Reads the locks of a stack in a file backend. */
const lockInFolder = async (
  backend: string,
  { project, stack }: StackNames,
): Promise<LockStanding> => {
  const locks = join(backend, ".pulumi", "locks");
  // The second is where backends are that were made before stacks belonged to projects.
  const folders = [join(locks, "organization", project, stack), join(locks, stack)];
  const files = await Promise.all(
    folders.map(async (folder) => {
      const names = await readdir(folder).catch(() => []);
      return names.filter((name) => name.endsWith(".json")).map((name) => join(folder, name));
    }),
  );
  const holders = await Promise.all(files.flat().map(readHolder));
  const standings = holders.map(standingOf);
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
