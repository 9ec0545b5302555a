import { chmodSync, closeSync, mkdirSync, openSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";

export type Sqlite = typeof import("node:sqlite");

/** SQLite's own numbers for what can be wrong with a file. */
const damaged: ReadonlySet<number> = new Set([11, 26]);
const inUse: ReadonlySet<number> = new Set([5, 6]);

/**
 * The table of this layout. The first release has another one in the same file, so both can be used
 * beside each other; they do not see each other's buckets.
 */
export const table = "limits_2";

/** Layouts of the file that know nothing to the contrary: a new one, and that of the first release. */
const known: ReadonlySet<unknown> = new Set([0, 1]);

/** Longest wait for another process's step, in milliseconds; one takes 0.2 ms. */
const busyMs = 250;

/** Where the buckets of this machine and user are kept. */
export const bucketFilePath = (
  environment: Readonly<Record<string, string | undefined>>,
  home: string = homedir(),
): string => {
  const cache = environment.XDG_CACHE_HOME;
  const folder = cache && isAbsolute(cache) ? cache : join(home, ".cache");
  return join(folder, "pulumi-conversation", "buckets.sqlite");
};

/** SQLite's number of a failure; the extended ones are kept in the higher bits. */
const codeOf = (error: unknown): number | undefined =>
  error instanceof Error && "errcode" in error && typeof error.errcode === "number"
    ? error.errcode & 0xff
    : undefined;

const layoutOf = (file: DatabaseSync): unknown =>
  file.prepare("PRAGMA user_version").get()?.user_version;

const journalOf = (file: DatabaseSync): unknown =>
  file.prepare("PRAGMA journal_mode").get()?.journal_mode;

const prepared = (file: DatabaseSync): DatabaseSync => {
  // Changing the mode needs the file for oneself, so it is done once only.
  if (journalOf(file) !== "wal") file.exec("PRAGMA journal_mode = WAL");
  file.exec("PRAGMA synchronous = OFF");
  if (!known.has(layoutOf(file))) throw new Error("the file was written by another release");
  file.exec(
    `CREATE TABLE IF NOT EXISTS ${table} (key TEXT PRIMARY KEY, start TEXT NOT NULL,
       state TEXT NOT NULL, used_at REAL NOT NULL) STRICT, WITHOUT ROWID`,
  );
  return file;
};

const opened = (sqlite: Sqlite, path: string): DatabaseSync => {
  const file = new sqlite.DatabaseSync(path, { timeout: busyMs });
  try {
    return prepared(file);
  } catch (error) {
    file.close();
    throw error;
  }
};

/** Whether another process had the file for itself at this moment. */
export const isInUse = (error: unknown): boolean => inUse.has(codeOf(error) ?? 0);

/**
 * Opens the file, readable by its user only, and makes it where it is missing. A damaged one is
 * thrown away: what it holds is found out again.
 */
export const openBucketFile = (sqlite: Sqlite, path: string): DatabaseSync => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, "a", 0o600));
  try {
    return opened(sqlite, path);
  } catch (error) {
    if (!damaged.has(codeOf(error) ?? 0)) throw error;
    for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true });
    closeSync(openSync(path, "a", 0o600));
    chmodSync(path, 0o600);
    return opened(sqlite, path);
  }
};
