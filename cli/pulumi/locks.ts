import { lstatSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { readPlainFile } from "../../provider/kernel/files.js";
import { isObject } from "../../provider/kernel/json.js";
import { isListedAs, mayBe, type PulumiPlace, printedJson, queryPulumi, stacksIn } from "./pulumi-queries.js";

/** Whether a run is using a stack, if the backend shows that. */
export type StackLock =
  | { readonly state: "free" }
  | {
      readonly state: "locked";
      /** The holder, if known. */
      readonly by?: string;
    }
  /** Why nothing shows it, as text without a period. */
  | { readonly state: "unknown"; readonly why: string };

/** A function that reads the current lock on one stack each time it is called. */
export type LockReader = () => Promise<StackLock>;

const free: StackLock = { state: "free" };
const unknown = (why: string): StackLock => ({ state: "unknown", why });

/**
 * Returns the folder of a `file://` backend. The path in the URL may be relative to the home folder
 * or to the project folder.
 */
export const backendFolder = (url: string, folder: string, home = homedir()): string => {
  const path = url.slice("file://".length).split("?")[0] ?? "";
  const whole = /^~(?=\/|$)/.test(path) ? home + path.slice(1) : path;
  return resolve(folder, whole.replace(/^\/(?=[A-Za-z]:)/, ""));
};

/** Where the states are, according to Pulumi: `folder` if it is a `file://` backend. */
const findBackend = async ({
  stack: _,
  ...place
}: PulumiPlace): Promise<
  { readonly url: string; readonly folder?: string } | { reason: string }
> => {
  const answer = await queryPulumi(place, ["whoami", "--verbose", "--json"]);
  if ("reason" in answer) return answer;
  const found = printedJson(answer.text);
  const url = isObject(found) && typeof found.url === "string" ? found.url : "";
  return url.startsWith("file://") ? { url, folder: backendFolder(url, place.folder) } : { url };
};

/** Pulumi writes its small files in place: those of a running operation are empty for an instant. */
const againMs = 200;

/** Reads a lock file of a run; undefined if it is not complete, or gone by now. */
const lockInText = (text: string | undefined): StackLock | undefined => {
  const lock = printedJson(text ?? "");
  if (!isObject(lock)) return undefined;
  const { username, hostname, pid, timestamp } = lock;
  if (!Number.isInteger(pid)) return { state: "locked" };
  const since = Date.parse(String(timestamp));
  const when = Number.isNaN(since) ? "" : `, since ${new Date(since).toISOString().slice(0, 19)}Z`;
  return { state: "locked", by: `${username}@${hostname}, process ${pid}${when}` };
};

/** A new lock file is empty for an instant; one that stays so was cut off. */
const lockInFile = async (file: string): Promise<StackLock> => {
  const read = () => lockInText(readPlainFile(file));
  const lock = read() ?? (await pause(againMs).then(read));
  if (lock) return lock;
  if (readPlainFile(file) !== undefined)
    return { state: "locked", by: "a run that was interrupted while acquiring the lock" };
  // Its run may have ended since the folder was read.
  const isGone = lstatSync(file, { throwIfNoEntry: false }) === undefined;
  return isGone ? free : unknown(`its lock is unreadable: ${file}`);
};

/** The content of a folder; empty if it does not exist. @throws if it cannot be read */
const namesInFolder = async (folder: string): Promise<readonly string[]> => {
  try {
    return await readdir(folder);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
};

/**
 * Reads the locks on a stack in a file backend: one file for each run.
 *
 * @param backend its folder
 */
export const lockInFolder = async (
  backend: string,
  project: string,
  stack: string,
): Promise<StackLock> => {
  const root = join(backend, ".pulumi");
  // The second is for backends that were created before stacks belonged to projects.
  const folders = [["organization", project, stack], [stack]].map((path) =>
    join(root, "locks", ...path),
  );
  try {
    if ((await namesInFolder(root)).length === 0)
      return unknown(`${backend} contains no Pulumi state`);
    const lists = await Promise.all(
      folders.map(async (folder) =>
        (await namesInFolder(folder)).map((name) => join(folder, name)),
      ),
    );
    const files = lists.flat().filter((file) => file.endsWith(".json"));
    const locks = await Promise.all(files.map(lockInFile));
    return locks.find(({ state }) => state !== "free") ?? free;
  } catch (error) {
    return unknown(`its locks are unreadable: ${error instanceof Error ? error.message : error}`);
  }
};

/** Only Pulumi Cloud shows updates in progress, and not who makes them. */
const lockInCloud = async ({ stack, ...place }: PulumiPlace): Promise<StackLock> => {
  const answer = await queryPulumi(place, ["stack", "ls", "--json"]);
  if ("reason" in answer) return unknown(answer.reason);
  const listed = stacksIn(answer.text) ?? [];
  const found =
    listed.find((each) => isListedAs(each, stack)) ??
    listed.find(({ name }) => mayBe(name, stack ?? ""));
  if (found?.updateInProgress === undefined)
    return unknown("Pulumi does not report whether an update is in progress");
  return found.updateInProgress ? { state: "locked" } : free;
};

/**
 * Determines how to read the lock on a stack: file backends keep it in a folder, Pulumi Cloud shows
 * updates in progress, and other backends do not show locks.
 *
 * @param stack short name
 */
export const lockReader = async (
  place: PulumiPlace,
  project: string,
  stack: string,
): Promise<LockReader> => {
  const backend = await findBackend(place);
  if ("reason" in backend) return async () => unknown(backend.reason);
  const { url, folder } = backend;
  if (folder !== undefined) return () => lockInFolder(folder, project, stack);
  if (/^https?:/.test(url)) return () => lockInCloud(place);
  return async () => unknown(`the backend ${url.split(":")[0]} does not expose its locks`);
};
