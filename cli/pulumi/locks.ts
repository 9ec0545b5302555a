import { existsSync, realpathSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { homedir, userInfo } from "node:os";
import { join, resolve } from "node:path";
import { textAt } from "../../provider/kernel/json.js";
import {
  isListedAs,
  mayBe,
  type PulumiAnswer,
  type PulumiPlace,
  printedJson,
  queryPulumi,
  stacksIn,
} from "./pulumi-queries.js";

/** Whether a run is using a stack, if the backend shows that. */
export type StackLock =
  | { readonly state: "free" | "locked" }
  /** Why nothing shows it, as text without a period. */
  | { readonly state: "unknown"; readonly why: string };

const unknown = (why: string): StackLock => ({ state: "unknown", why });

/** The home folder as Pulumi finds it: the system's record of the user precedes HOME. */
const homeOfUser = (): string => {
  try {
    return userInfo().homedir;
  } catch {
    return homedir();
  }
};

/**
 * Returns the real folder of a `file://` backend. The path in the URL may be relative to the home
 * folder or to the project folder.
 */
export const backendFolder = (url: string, folder: string, home = homeOfUser()): string => {
  const path = url.slice("file://".length).split("?")[0] ?? "";
  const whole = /^~(?=\/|$)/.test(path) ? home + path.slice(1) : path;
  const found = resolve(folder, whole.replace(/^\/(?=[A-Za-z]:)/, ""));
  return existsSync(found) ? realpathSync(found) : found;
};

/**
 * Asks which backend Pulumi is logged in to. The URL of a file backend is that of its real folder:
 * the same for everybody who reaches it by another path.
 */
export const readBackend = async ({ stack: _, ...place }: PulumiPlace): Promise<PulumiAnswer> => {
  const answer = await queryPulumi(place, ["whoami", "--verbose", "--json"]);
  if ("reason" in answer) return answer;
  const url = textAt(printedJson(answer.text), "url") ?? "";
  return { text: url.startsWith("file://") ? `file://${backendFolder(url, place.folder)}` : url };
};

/** A file backend has a file for each run in the folder of the stack. */
const lockInFolder = async (backend: string, project: string, stack: string) => {
  const root = join(backend, ".pulumi");
  if (!existsSync(root)) return unknown(`${backend} contains no Pulumi state`);
  const folder = join(root, "locks", "organization", project, stack);
  try {
    const names = existsSync(folder) ? await readdir(folder) : [];
    const isLocked = names.some((name) => name.endsWith(".json"));
    return { state: isLocked ? "locked" : "free" } as const;
  } catch (error) {
    return unknown(`its locks are unreadable: ${error instanceof Error ? error.message : error}`);
  }
};

/** Only Pulumi Cloud shows updates in progress. */
const lockInCloud = async ({ stack, ...place }: PulumiPlace): Promise<StackLock> => {
  const answer = await queryPulumi(place, ["stack", "ls", "--json"]);
  if ("reason" in answer) return unknown(answer.reason);
  const listed = stacksIn(answer.text) ?? [];
  const found =
    listed.find((each) => isListedAs(each, stack)) ??
    listed.find(({ name }) => mayBe(name, stack ?? ""));
  if (found?.updateInProgress === undefined)
    return unknown("Pulumi does not report whether an update is in progress");
  return { state: found.updateInProgress ? "locked" : "free" };
};

/**
 * Looks at the lock on a stack: file backends keep it in a folder, Pulumi Cloud shows updates in
 * progress, and other backends do not show locks.
 *
 * @param backend from `readBackend`
 * @param stack short name
 */
export const lockIn = async (
  backend: PulumiAnswer,
  place: PulumiPlace,
  project: string,
  stack: string,
): Promise<StackLock> => {
  if ("reason" in backend) return unknown(backend.reason);
  const { text: url } = backend;
  if (url.startsWith("file://")) return lockInFolder(url.slice("file://".length), project, stack);
  if (/^https?:/.test(url)) return lockInCloud(place);
  return unknown(`the backend ${url.split(":")[0]} does not expose its locks`);
};
