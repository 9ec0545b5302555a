import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { readPlainFile } from "../kernel/files.js";
import { isObject } from "../kernel/json.js";
import {
  isListedAs,
  mayBe,
  type PulumiPlace,
  printedJson,
  queryPulumi,
  stacksIn,
} from "./pulumi-queries.js";

/** Whether a run is at work on a stack, as far as its backend lets that be seen. */
export type StackLock =
  | { readonly state: "free" }
  /** `by`: who holds it, if that is known. */
  | { readonly state: "locked"; readonly by?: string }
  | { readonly state: "unknown"; readonly why: string };

/** Looks at the lock of one stack, each time anew. */
export type LockReader = () => Promise<StackLock>;

const free: StackLock = { state: "free" };
const unknown = (why: string): StackLock => ({ state: "unknown", why });

/** Folder of a `file://` backend; a path may begin at home, or in the folder of the project. */
export const backendFolder = (url: string, folder: string, home = homedir()): string => {
  const path = url.slice("file://".length).split("?")[0] ?? "";
  const whole = /^~(?=\/|$)/.test(path) ? home + path.slice(1) : path;
  return resolve(folder, whole.replace(/^\/(?=[A-Za-z]:)/, ""));
};

/** The run that holds a lock, as the lock's file shows it. */
export interface LockHolder {
  readonly pid: number;
  readonly host: string;
  /** When it took the lock, in milliseconds since 1970; NaN if the file does not say. */
  readonly since: number;
  /** For messages. */
  readonly by: string;
}

/** Reads the file of a lock; undefined where it holds no JSON, as one that was cut off while written. */
export const lockHolderIn = (text: string): LockHolder | undefined => {
  const lock = printedJson(text);
  if (!isObject(lock)) return undefined;
  const { username, hostname: host, pid, timestamp } = lock;
  const since = Date.parse(String(timestamp));
  const when = Number.isNaN(since) ? "" : `, since ${new Date(since).toISOString().slice(0, 19)}Z`;
  const by = `${username}@${host}, process ${pid}${when}`;
  return { pid: Number(pid), host: String(host), since, by };
};

/** Whether a file or folder is not there. */
const isNotThere = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ENOENT";

/** What is in a folder; nothing where there is none. @throws where it cannot be read */
export const namesInFolder = async (folder: string): Promise<readonly string[]> => {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isNotThere(error)) return [];
    throw error;
  }
};

/** Locks of a file backend: one file for each run, in a folder for each stack. */
const lockInFiles = async (backend: string, project: string, stack: string): Promise<StackLock> => {
  try {
    if ((await namesInFolder(join(backend, ".pulumi"))).length === 0)
      return unknown(`${backend} holds no state of Pulumi`);
    const locks = join(backend, ".pulumi", "locks");
    // The second is where backends are that were made before stacks belonged to projects.
    for (const folder of [join(locks, "organization", project, stack), join(locks, stack)]) {
      const file = (await namesInFolder(folder)).find((name) => name.endsWith(".json"));
      if (!file) continue;
      const by = lockHolderIn(readPlainFile(join(folder, file)) ?? "")?.by;
      return { state: "locked", ...(by ? { by } : {}) };
    }
    return free;
  } catch (error) {
    return unknown(error instanceof Error ? error.message : "its folder cannot be read");
  }
};

const progressOf = async ({ stack, ...place }: PulumiPlace): Promise<StackLock> => {
  const answer = await queryPulumi(place, ["stack", "ls", "--json"]);
  if ("reason" in answer) return unknown(answer.reason);
  const listed = stacksIn(answer.text) ?? [];
  const found =
    listed.find((each) => isListedAs(each, stack)) ??
    listed.find(({ name }) => mayBe(name, stack ?? ""));
  if (found?.updateInProgress === undefined) return unknown("Pulumi does not tell");
  return found.updateInProgress ? { state: "locked" } : free;
};

const backendUrl = (text: string): string | undefined => {
  const answer = printedJson(text);
  return isObject(answer) && typeof answer.url === "string" ? answer.url : undefined;
};

/**
 * Finds out where the lock of a stack can be seen: file backends keep it in a folder, Pulumi Cloud
 * shows updates in progress, other backends keep it out of sight.
 *
 * @param stack short name
 */
export const lockReader = async (
  place: PulumiPlace,
  project: string,
  stack: string,
): Promise<LockReader> => {
  const { stack: _, ...anyStack } = place;
  const answer = await queryPulumi(anyStack, ["whoami", "--verbose", "--json"]);
  if ("reason" in answer) return async () => unknown(answer.reason);
  const url = backendUrl(answer.text);
  if (url?.startsWith("file://")) {
    const folder = backendFolder(url, place.folder);
    return () => lockInFiles(folder, project, stack);
  }
  if (url && /^https?:/.test(url)) return () => progressOf(place);
  return async () => unknown(`the backend ${url?.split(":")[0] ?? ""} does not show its locks`);
};
