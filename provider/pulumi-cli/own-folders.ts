import { linkSync, lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { homedir, hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  isOwnFolder,
  keepsWhatIsOurs,
  makeFolders,
  makeOwnFolder,
  readOwnFile,
  writeDraft,
} from "../kernel/files.js";
import { birthOfProcess, isRunning } from "./processes.js";

/**
 * Applies if it is unknown whether the owner is still running: nothing that is locked here takes as
 * long.
 */
const LONGEST_MS = 3_600_000;

interface Owner {
  readonly text: string;
  readonly ageMs: number;
}

/** @throws Error if something other than a lock of this user has its name */
const ownerOf = (path: string): Owner | undefined => {
  const text = readOwnFile(path);
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (text !== undefined && facts) return { text, ageMs: Date.now() - facts.mtimeMs };
  if (!facts) return undefined;
  throw new Error(
    `${path} was not changed: it has the name of a lock, but is not a regular file that this user owns. Remove it, then try again.`,
  );
};

/**
 * The content of a lock of this process: its description for people, then values that no other
 * process has had.
 */
const ownText = (): string => {
  const birth = birthOfProcess(process.pid);
  return `${process.pid} on ${hostname()}${birth === undefined ? "" : ` ${birth}`}`;
};

/** Whether the owner that a lock names is still running: undefined if that is unknown here. */
const isAtWork = (text: string): boolean | undefined => {
  const [pid, , host, birth] = text.split(" ");
  if (host !== hostname()) return undefined;
  if (!isRunning(Number(pid))) return false;
  // Its number may belong to another process by now.
  const shown = birthOfProcess(Number(pid));
  return birth === undefined || shown === undefined ? undefined : birth === shown;
};

/** Age counts only if nothing else is known: clocks are set, and machines sleep. */
const isLeftBehind = ({ text, ageMs }: Owner): boolean => !(isAtWork(text) ?? ageMs <= LONGEST_MS);

/** Whether the process of this machine that made a lock has ended; one elsewhere may be alive. */
const lockOwner = (path: string): "none" | "ended" | "unknown" => {
  if (!lstatSync(path, { throwIfNoEntry: false })) return "none";
  return isAtWork(readOwnFile(path) ?? "") === false ? "ended" : "unknown";
};

const isExisting = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "EEXIST";

/** The file appears with its content or not at all, so that a lock always names its owner. */
const take = (path: string, text: string): boolean => {
  const draft = writeDraft(path, text);
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (isExisting(error)) return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
};

type Attempt =
  | { readonly release: () => void }
  | { readonly heldBy: string; readonly release?: never };

/**
 * Tries to lock a file, taking over the lock if its holder has ended, or after an hour if that is
 * unknown. Returns the lock or its current holder.
 */
export const tryLock = (path: string): Attempt => {
  makeFolders(dirname(path));
  const text = ownText();
  const lock = {
    release: () => {
      if (readOwnFile(path) === text) rmSync(path, { force: true });
    },
  };
  if (take(path, text)) return lock;
  const owner = ownerOf(path);
  if (!owner) return take(path, text) ? lock : heldBy(path);
  if (!isLeftBehind(owner)) return heldBy(path);
  // One at a time: a second one would remove the lock that the first has just taken.
  const clearing = tryLock(`${path}.clearing`);
  if (!clearing.release) return clearing;
  try {
    const left = ownerOf(path);
    if (left && isLeftBehind(left)) rmSync(path, { force: true });
    return take(path, text) ? lock : heldBy(path);
  } finally {
    clearing.release();
  }
};

const heldBy = (path: string): Attempt => {
  const who = ownerOf(path)?.text.split(" ").slice(0, 3).join(" ");
  return { heldBy: `process ${who ?? "that is about to end"}` };
};

/**
 * Returns the folder for files that this package can recreate, below XDG_CACHE_HOME or, by default,
 * below the home folder.
 */
export const cacheFolder = (env: NodeJS.ProcessEnv): string =>
  join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), ".cache"), "pulumi-conversation");

/**
 * Returns the cache folder, creating it if it does not exist.
 *
 * @throws Error if it cannot be created, or does not certainly belong to this user
 */
export const ownCacheFolder = (env: NodeJS.ProcessEnv): string => {
  const folder = cacheFolder(env);
  makeOwnFolder(folder);
  return folder;
};

/** A folder that only this user can read. */
interface PrivateFolder {
  readonly folder: string;
  /** Removes the folder and its contents. */
  readonly remove: () => void;
}

const removeFolder = (folder: string): void =>
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });

/** Something that is just ending may still be writing into it; the next process removes it. */
const removeIfPossible = (folder: string): void => {
  try {
    removeFolder(folder);
  } catch {}
};

const ownerFile = (folder: string): string => join(folder, "owner");

/**
 * A folder is this long without its owner only if a process that was just ending wrote into it
 * again.
 */
const longestUnownedMs = 600_000;

const isUnowned = (folder: string): boolean => {
  const { mtimeMs = Date.now() } = lstatSync(folder, { throwIfNoEntry: false }) ?? {};
  return Date.now() - mtimeMs > longestUnownedMs;
};

/** Files of other users stay, whatever their names, and nothing is read below them. */
const isLeft = (folder: string): boolean => {
  if (!isOwnFolder(folder, "readers")) return false;
  const owner = lockOwner(ownerFile(folder));
  return owner === "ended" || (owner === "none" && isUnowned(folder));
};

/**
 * Removes the folders of this user's processes that were killed before they could clean up. Does
 * nothing if another user could replace them in the meantime.
 */
const removeAbandoned = (parent: string, prefix: string): void => {
  if (!keepsWhatIsOurs(parent)) return;
  for (const name of readdirSync(parent)) {
    const folder = join(parent, name);
    if (name.startsWith(prefix) && isLeft(folder)) removeIfPossible(folder);
  }
};

/**
 * Creates a private folder in the system's temporary folder. It is removed when you call `remove`
 * or when this process ends; after SIGKILL, the next call with the same prefix removes it.
 *
 * @param prefix start of the name
 */
export const privateFolder = (prefix: string): PrivateFolder => {
  removeAbandoned(tmpdir(), prefix);
  const folder = mkdtempSync(join(tmpdir(), prefix));
  tryLock(ownerFile(folder));
  const leave = () => removeIfPossible(folder);
  process.once("exit", leave);
  return {
    folder,
    remove: () => {
      process.off("exit", leave);
      removeFolder(folder);
    },
  };
};
