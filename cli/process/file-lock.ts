import { linkSync, lstatSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { makeFolders } from "../../provider/kernel/make-folders.js";
import { readOwnFile, writeDraft } from "../../provider/kernel/own-files.js";
import { CommandFailure } from "../command.js";
import { isRunning } from "./process-group.js";

/** Nothing that is locked here takes as long: an older lock was left behind. */
const LONGEST_MS = 3_600_000;

interface Owner {
  readonly text: string;
  readonly ageMs: number;
}

/** @throws CommandFailure where something else than a lock of this user has its name */
const ownerOf = (path: string): Owner | undefined => {
  const text = readOwnFile(path);
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (text !== undefined && facts) return { text, ageMs: Date.now() - facts.mtimeMs };
  if (!facts) return undefined;
  throw new CommandFailure(
    `${path} is left alone: it has the name of a lock, and is no plain file of this user. Remove it, then try again.`,
  );
};

/** Whether the owner that a lock names was on this machine and has ended; one elsewhere may be alive. */
const hasEnded = (text: string): boolean => {
  const [pid, , host] = text.split(" ");
  return host === hostname() && !isRunning(Number(pid));
};

const isLeftBehind = ({ text, ageMs }: Owner): boolean => ageMs > LONGEST_MS || hasEnded(text);

/** Whether the process of this machine that made a lock has ended; one elsewhere may be alive. */
export const lockOwner = (path: string): "none" | "ended" | "unknown" => {
  if (!lstatSync(path, { throwIfNoEntry: false })) return "none";
  return hasEnded(readOwnFile(path) ?? "") ? "ended" : "unknown";
};

const isExisting = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "EEXIST";

/** The file appears with its content or not at all, so that a lock always names its owner. */
const take = (path: string): boolean => {
  const draft = writeDraft(path, `${process.pid} on ${hostname()}`);
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
