import { closeSync, openSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { hrtime } from "node:process";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { assertOwnFile, makeOwnFolder } from "../kernel/files.js";
import { type BucketStore, parseKept, type StoreChange } from "./bucket-store.js";

/** Returns the path of the bucket file for this machine and user. */
export const bucketFilePath = (
  environment: Readonly<Record<string, string | undefined>>,
  home: string = homedir(),
): string => {
  const cache = environment.XDG_CACHE_HOME;
  const folder = cache && isAbsolute(cache) ? cache : join(home, ".cache");
  return join(folder, "pulumi-conversation", "buckets.sqlite");
};

/** SQLite's result codes SQLITE_CORRUPT and SQLITE_NOTADB; SQLITE_BUSY and SQLITE_LOCKED (sqlite.org/rescode.html). */
const damaged: ReadonlySet<unknown> = new Set([11, 26]);

const inUse: ReadonlySet<unknown> = new Set([5, 6]);

/** SQLite's number of a failure; the higher bits contain the extended code. */
const readCode = (error: unknown): number | undefined =>
  error instanceof Error && "errcode" in error && typeof error.errcode === "number"
    ? error.errcode & 0xff
    : undefined;

/** Maximum wait for another process's change, in milliseconds. */
const busyMs = 250;

/** Attempts to open the file while processes that start together create it. */
const mostAttempts = 5;

/** The file itself, and those that SQLite keeps beside it. */
const ends = ["", "-wal", "-shm", "-journal"];

/** Rows that were not used for a week are removed. */
const layout = `
PRAGMA synchronous = OFF;
CREATE TABLE IF NOT EXISTS limits (key TEXT PRIMARY KEY, state TEXT NOT NULL,
  used_at INTEGER NOT NULL DEFAULT (unixepoch())) STRICT, WITHOUT ROWID;
DELETE FROM limits WHERE used_at < unixepoch() - 7 * 24 * 60 * 60;`;

/** Opens the file, readable by its user only, and creates it if it is missing. */
const openFile = async (path: string): Promise<DatabaseSync> => {
  const { DatabaseSync } = await import("node:sqlite");
  makeOwnFolder(dirname(path));
  // Opening a file that somebody else created could take forever.
  for (const end of ends) assertOwnFile(path + end);
  closeSync(openSync(path, "a", 0o600));
  const file = new DatabaseSync(path, { timeout: busyMs });
  try {
    // Changing the mode needs exclusive access to the file, so it is done only once.
    const { journal_mode: mode } = file.prepare("PRAGMA journal_mode").get() ?? {};
    if (mode !== "wal") file.exec("PRAGMA journal_mode = WAL");
    file.exec(layout);
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
};

/** A damaged file is deleted: at worst, some calls are refused. */
const openFileSoon = async (path: string): Promise<DatabaseSync> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await openFile(path);
    } catch (error) {
      const code = readCode(error);
      if (attempt === mostAttempts || !(damaged.has(code) || inUse.has(code))) throw error;
      if (damaged.has(code)) for (const end of ends) rmSync(path + end, { force: true });
      await pause(attempt * 5 * (1 + Math.random()));
    }
  }
};

/** Milliseconds since the machine started: all its processes share them, and nobody sets them. */
const machineTime = (): number => Number(hrtime.bigint()) / 1e6;

/** The buckets in an open file. Every method fails if the file does. */
const openBuckets = async (path: string, now: () => number) => {
  const file = await openFileSoon(path);
  const begin = file.prepare("BEGIN IMMEDIATE");
  const commit = file.prepare("COMMIT");
  const read = file.prepare("SELECT state FROM limits WHERE key = ?");
  const write = file.prepare("INSERT OR REPLACE INTO limits (key, state) VALUES (?, ?)");
  return {
    change: <R>(key: string, change: StoreChange<R>): R => {
      begin.run();
      try {
        const before = parseKept(read.get(key)?.state);
        const { state, result } = change(before, now(), 1);
        if (state && state !== before) write.run(key, JSON.stringify(state));
        commit.run();
        return result;
      } catch (error) {
        if (file.isTransaction) file.exec("ROLLBACK");
        throw error;
      }
    },
    close: () => file.close(),
  };
};

/**
 * Creates a store of buckets in a small SQLite file that all of this user's processes on this
 * machine share. Opens the file on first use. After a restart of the machine, no time has passed.
 *
 * Rejects if the file cannot be used: see `withLocalBuckets`.
 *
 * @param now monotonic milliseconds, the same for all processes
 */
export const fileBuckets = (path: string, now: () => number = machineTime): BucketStore => {
  let file: ReturnType<typeof openBuckets> | undefined;
  const close = async (opened: typeof file): Promise<void> => {
    if (file === opened) file = undefined;
    await opened?.then((one) => one.close()).catch(() => {});
  };
  return {
    change: async (key, change) => {
      file ??= openBuckets(path, now);
      const used = file;
      try {
        return (await used).change(key, change);
      } catch (error) {
        void close(used);
        throw error;
      }
    },
    close: () => close(file),
  };
};
