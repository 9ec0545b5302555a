import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { homedir, hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  assertOwnFile,
  isOwnFolder,
  keepsWhatIsOurs,
  makeFolders,
  makeOwnFolder,
} from "../../provider/kernel/files.js";
import { isRunning } from "./processes.js";

/** SQLite's number of the failure that another process has locked the file. */
const isLocked = (error: unknown): boolean =>
  error instanceof Error && "errcode" in error && error.errcode === 5;

/**
 * Tries to lock a file, creating it if it does not exist. SQLite locks it, so the system releases the
 * lock when this process ends, however that ends. The empty file stays.
 *
 * @returns the function that releases the lock; undefined if another process holds it
 * @throws Error if the file cannot be locked, or is not a regular file that this user owns
 */
export const tryLock = (path: string): (() => void) | undefined => {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  makeFolders(dirname(path));
  assertOwnFile(path);
  const file = new DatabaseSync(path, { timeout: 0 });
  try {
    file.exec("BEGIN EXCLUSIVE");
    return () => file.close();
  } catch (error) {
    file.close();
    if (isLocked(error)) return undefined;
    throw error;
  }
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

/** Something that is just ending may still be writing into it; the next process removes it. */
const removeIfPossible = (folder: string): void => {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch {}
};

/**
 * Removes the folders of this user's processes that were killed before they could clean up. Does
 * nothing if another user could replace them in the meantime. Files of other users stay, whatever
 * their names.
 *
 * @param start of the names, before the ID of the process
 */
const removeAbandoned = (parent: string, start: string): void => {
  if (!keepsWhatIsOurs(parent)) return;
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(start)) continue;
    const pid = Number.parseInt(name.slice(start.length), 10);
    const folder = join(parent, name);
    if (pid > 0 && !isRunning(pid) && isOwnFolder(folder, "readers")) removeIfPossible(folder);
  }
};

/**
 * Creates a folder that only this user can read in the system's temporary folder. It is removed when
 * you call `remove` or when this process ends; after SIGKILL, the next call with the same prefix
 * removes it.
 *
 * @param prefix start of the name, before the name of this machine and the ID of this process
 */
export const privateFolder = (prefix: string) => {
  const start = `${prefix}${hostname()}-`;
  removeAbandoned(tmpdir(), start);
  const folder = mkdtempSync(join(tmpdir(), `${start}${process.pid}-`));
  const leave = () => removeIfPossible(folder);
  process.once("exit", leave);
  return {
    folder,
    remove: (): void => {
      process.off("exit", leave);
      leave();
    },
  };
};
