import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isOwnFolder, keepsWhatIsOurs } from "../../provider/kernel/files.js";
import { lockOwner, tryLock } from "./file-lock.js";

/** A folder that only this user can read. */
export interface PrivateFolder {
  readonly folder: string;
  /** Removes it with all that is in it. */
  readonly remove: () => void;
}

const removeFolder = (folder: string): void =>
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });

const ownerFile = (folder: string): string => join(folder, "owner");

/** A folder is without its owner for so long only where a process that was just ending wrote into it again. */
const longestUnownedMs = 600_000;

const isUnowned = (folder: string): boolean => {
  const { mtimeMs = Date.now() } = lstatSync(folder, { throwIfNoEntry: false }) ?? {};
  return Date.now() - mtimeMs > longestUnownedMs;
};

/** What other users made stays, whatever its name is, and nothing is read below it. */
const isLeft = (folder: string): boolean => {
  if (!isOwnFolder(folder, "readers")) return false;
  const owner = lockOwner(ownerFile(folder));
  return owner === "ended" || (owner === "none" && isUnowned(folder));
};

/**
 * Removes what processes of this user have left that could not clean up after themselves: they were
 * killed. Nothing where another user could put something else in its place meanwhile.
 */
const removeAbandoned = (parent: string, prefix: string): void => {
  if (!keepsWhatIsOurs(parent)) return;
  for (const name of readdirSync(parent)) {
    const folder = join(parent, name);
    if (!name.startsWith(prefix) || !isLeft(folder)) continue;
    try {
      removeFolder(folder);
    } catch {
      // Something may still be writing into it; the next one removes it.
    }
  }
};

/**
 * Makes a folder below that for temporary files. It is gone when `remove` is called, and when this
 * process ends; after SIGKILL when another one is made with the same prefix.
 *
 * @param prefix how the name begins
 */
export const privateFolder = (prefix: string): PrivateFolder => {
  removeAbandoned(tmpdir(), prefix);
  const folder = mkdtempSync(join(tmpdir(), prefix));
  tryLock(ownerFile(folder));
  const leave = () => {
    try {
      removeFolder(folder);
    } catch {
      // Something that is just ending still writes into it; the next one removes it.
    }
  };
  process.once("exit", leave);
  return {
    folder,
    remove: () => {
      process.off("exit", leave);
      removeFolder(folder);
    },
  };
};
