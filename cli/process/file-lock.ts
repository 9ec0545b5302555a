import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { makeFolders } from "./make-folders.js";
import { isRunning } from "./process-group.js";

/** Nothing that is locked here takes as long: an older lock was left behind. */
const LONGEST_MS = 3_600_000;

interface Owner {
  readonly text: string;
  readonly ageMs: number;
}

const ownerOf = (path: string): Owner | undefined => {
  try {
    return { text: readFileSync(path, "utf8"), ageMs: Date.now() - statSync(path).mtimeMs };
  } catch {
    return undefined;
  }
};

/** An owner on this machine that has ended left its lock behind; one elsewhere may be alive. */
const isLeftBehind = ({ text, ageMs }: Owner): boolean => {
  const [pid, , host] = text.split(" ");
  return ageMs > LONGEST_MS || (host === hostname() && !isRunning(Number(pid)));
};

/** Whether a lock was left behind by a process of this machine that has ended; false where there is none. */
export const isAbandoned = (path: string): boolean => {
  const [pid, , host] = ownerOf(path)?.text.split(" ") ?? [];
  return host === hostname() && !isRunning(Number(pid));
};

const isExisting = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "EEXIST";

/** The file appears with its content or not at all, so that a lock always names its owner. */
const take = (path: string): boolean => {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${process.pid} on ${hostname()}`);
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

/** Tries to take the lock that a file stands for, also from a process that has ended: the lock, or who holds it. */
export const tryLock = (
  path: string,
): { readonly release: () => void } | { readonly heldBy: string; readonly release?: never } => {
  makeFolders(dirname(path));
  const release = () => rmSync(path, { force: true });
  if (take(path)) return { release };
  const owner = ownerOf(path);
  if (!owner || isLeftBehind(owner)) {
    release();
    if (take(path)) return { release };
  }
  return { heldBy: `process ${ownerOf(path)?.text ?? "that is just ending"}` };
};
