import { closeSync, openSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { hrtime } from "node:process";
import type { Clock } from "../kernel/clock.js";
import { isConversationError } from "../kernel/errors.js";
import { assertOwnFile, makeOwnFolder } from "../kernel/files.js";
import { isObject, jsonIn } from "../kernel/json.js";
import type { Bucket } from "./bucket.js";

/**
 * Derives a new bucket from the stored one.
 *
 * @param kept undefined: nothing is stored yet
 * @param now the store's own time in milliseconds
 */
export type BucketChange = (kept: Bucket | undefined, now: number) => Bucket;

/**
 * The bucket store. Changes are atomic. A change may run again if another process was faster; the
 * last run counts. Nothing is reserved in advance, so no tokens are lost if a process is killed.
 */
export interface BucketStore {
  /** Changes the bucket stored under a key. A failure ends the calls that wait. */
  change(key: string, change: BucketChange): Promise<void>;
  /** Releases what the store holds open. Never fails. */
  close(): Promise<void>;
}

/** Parses the text that a store keeps; undefined if it is not a bucket. */
export const parseBucket = (text: unknown): Bucket | undefined => {
  const value = typeof text === "string" ? jsonIn(text) : undefined;
  const { at, dueMs } = isObject(value) ? value : {};
  // 1e999 is read as Infinity.
  return typeof at === "number" && typeof dueMs === "number" && Number.isFinite(at + dueMs)
    ? { at, dueMs }
    : undefined;
};

/** Creates a store of buckets for this process only. */
export const memoryBuckets = (clock: Pick<Clock, "now">): BucketStore => {
  const buckets = new Map<string, Bucket>();
  return {
    change: async (key, change) => {
      buckets.set(key, change(buckets.get(key), clock.now()));
    },
    close: async () => {},
  };
};

/** Returns the path of the bucket file for this machine and user. */
export const bucketFilePath = (
  environment: Readonly<Record<string, string | undefined>>,
  home: string = homedir(),
): string => {
  const cache = environment.XDG_CACHE_HOME;
  const folder = cache && isAbsolute(cache) ? cache : join(home, ".cache");
  return join(folder, "pulumi-conversation", "buckets.sqlite");
};

/** Maximum wait for another process's change, in milliseconds. */
const busyMs = 250;

/**
 * The journal, which undoes the change of a killed process, is kept beside the file. Rows that were
 * not used for a week are removed.
 */
const layout = `
PRAGMA synchronous = OFF;
PRAGMA journal_mode = PERSIST;
CREATE TABLE IF NOT EXISTS limits (key TEXT PRIMARY KEY, state TEXT NOT NULL,
  used_at INTEGER NOT NULL DEFAULT (unixepoch())) STRICT, WITHOUT ROWID;
DELETE FROM limits WHERE used_at < unixepoch() - 7 * 24 * 60 * 60;`;

/** Opens the file, readable by its user only, and creates it if it is missing. */
const openFile = async (path: string) => {
  const { DatabaseSync } = await import("node:sqlite");
  makeOwnFolder(dirname(path));
  // Opening a file that somebody else created could take forever.
  for (const end of ["", "-journal"]) assertOwnFile(path + end);
  closeSync(openSync(path, "a", 0o600));
  const file = new DatabaseSync(path, { timeout: busyMs });
  try {
    file.exec(layout);
    return {
      file,
      read: file.prepare("SELECT state FROM limits WHERE key = ?"),
      write: file.prepare("INSERT OR REPLACE INTO limits (key, state) VALUES (?, ?)"),
    };
  } catch (error) {
    file.close();
    throw error;
  }
};

/** Milliseconds since the machine started: all its processes share them, and nobody sets them. */
const machineTime = (): number => Number(hrtime.bigint()) / 1e6;

/**
 * Creates a store of buckets in a small SQLite file that all of this user's processes on this
 * machine share. Opens the file on first use. After a restart of the machine, no time has passed.
 *
 * Rejects if the file cannot be used: see `withLocalBuckets`.
 *
 * @param now monotonic milliseconds, the same for all processes
 */
export const fileBuckets = (path: string, now: () => number = machineTime): BucketStore => {
  let opened: ReturnType<typeof openFile> | undefined;
  const close = async (): Promise<void> => {
    const last = opened;
    opened = undefined;
    await last?.then(({ file }) => file.close()).catch(() => {});
  };
  return {
    change: async (key, change) => {
      opened ??= openFile(path);
      try {
        const { file, read, write } = await opened;
        file.exec("BEGIN IMMEDIATE");
        const at = now();
        const kept = parseBucket(read.get(key)?.state);
        write.run(key, JSON.stringify(change(kept, at)));
        file.exec("COMMIT");
      } catch (error) {
        // Closing undoes what was begun.
        await close();
        throw error;
      }
    },
    close,
  };
};

/** Time until lost buckets are tried again, in milliseconds: Redis usually returns within seconds. */
const againMs = 2_000;

/**
 * Returns a store that uses shared buckets, or those of this process while the shared ones cannot be
 * reached. Rejects only with a ConversationError, for failures that a person must fix.
 *
 * @param onLost called the first time that the shared buckets cannot be reached
 */
export const withLocalBuckets = (
  shared: BucketStore,
  clock: Clock,
  onLost: (error: unknown) => void,
): BucketStore => {
  const local = memoryBuckets(clock);
  let againAt = Number.NEGATIVE_INFINITY;
  let isReported = false;
  return {
    change: async (key, change) => {
      if (clock.now() < againAt) return local.change(key, change);
      try {
        await shared.change(key, change);
      } catch (error) {
        if (isConversationError(error)) throw error;
        againAt = clock.now() + againMs;
        if (!isReported) onLost(error);
        isReported = true;
        await local.change(key, change);
      }
    },
    close: () => shared.close(),
  };
};
