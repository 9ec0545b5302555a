import { linkSync, lstatSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { makeFolders, readOwnFile, writeDraft } from "../../provider/kernel/files.js";
import { CommandFailure } from "../command.js";
import { birthOfProcess, isRunning } from "./process-group.js";

/** Where it cannot be seen whether its owner still works: nothing that is locked here takes as long. */
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

/** What a lock says of this process: who it is for people, then what no other process has had. */
const ownText = (): string => {
  const birth = birthOfProcess(process.pid);
  return `${process.pid} on ${hostname()}${birth === undefined ? "" : ` ${birth}`}`;
};

/** Whether the owner that a lock names works on: undefined where that cannot be seen from here. */
const isAtWork = (text: string): boolean | undefined => {
  const [pid, , host, birth] = text.split(" ");
  if (host !== hostname()) return undefined;
  if (!isRunning(Number(pid))) return false;
  // Its number may be another process's by now.
  return birth === undefined ? undefined : birth === birthOfProcess(Number(pid));
};

/** Age counts only where nothing else tells: clocks are set, and machines sleep. */
const isLeftBehind = ({ text, ageMs }: Owner): boolean => !(isAtWork(text) ?? ageMs <= LONGEST_MS);

/** Whether the process of this machine that made a lock has ended; one elsewhere may be alive. */
export const lockOwner = (path: string): "none" | "ended" | "unknown" => {
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

/** Tries to take the lock that a file stands for, also from a process that has ended: the lock, or who holds it. */
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
  // One at a time: a second one would remove what the first has just taken.
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
  return { heldBy: `process ${who ?? "that is just ending"}` };
};
