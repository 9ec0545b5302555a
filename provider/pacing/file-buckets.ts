import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { hrtime } from "node:process";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { assertOwnFile, makeOwnFolder } from "../kernel/files.js";
import { type BucketStore, type Kept, keptOf, type StoreChange } from "./bucket-store.js";

/** Time that all processes of this machine share. */
export interface MachineTime {
  /** Monotonic milliseconds since the machine was started: setting the wall clock does not show. */
  now(): number;
  /** Names the start of the machine; times of different starts cannot be compared. */
  readonly start: string;
}

export interface FileBucketsOptions {
  readonly path: string;
  /** Default: this machine's. */
  readonly time?: MachineTime;
  /** Wall clock in milliseconds, for what outlives the start of the machine. Default: this machine's. */
  readonly wall?: () => number;
}

/**
 * The table of this layout. The first release has another one in the same file, so both can be used
 * beside each other; they do not see each other's buckets.
 */
const table = "limits_2";

/** Layouts of the file that may hold this table: a new one, and that of the first release. */
const usableLayouts: ReadonlySet<unknown> = new Set([0, 1]);

/** SQLite's result codes SQLITE_CORRUPT and SQLITE_NOTADB; SQLITE_BUSY and SQLITE_LOCKED (sqlite.org/rescode.html). */
const damaged: ReadonlySet<unknown> = new Set([11, 26]);

const inUse: ReadonlySet<unknown> = new Set([5, 6]);

/** Longest wait for another process's change, in milliseconds; one takes 0.2 ms (measured). */
const busyMs = 250;

/** With pauses of 5 to 50 ms between them: what four processes need that start together (measured). */
const mostAttempts = 5;

/** What was not used for a week is removed: what is known of a burst is believed for a day only. */
const unusedMs = 7 * 24 * 60 * 60_000;

/** Coarse, since it must not change when the wall clock is set by some seconds. */
const roughMs = 600_000;

const startOfMachine = (now: number): string => {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return `about ${Math.round((Date.now() - now) / roughMs)}`;
  }
};

const machineTime = (): MachineTime => {
  const now = (): number => Number(hrtime.bigint()) / 1e6;
  return { now, start: startOfMachine(now()) };
};

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

const prepare = (file: DatabaseSync): void => {
  const pragma = (name: string): unknown => file.prepare(`PRAGMA ${name}`).get()?.[name];
  // Changing the mode needs the file for oneself, so it is done once only.
  if (pragma("journal_mode") !== "wal") file.exec("PRAGMA journal_mode = WAL");
  file.exec("PRAGMA synchronous = OFF");
  if (!usableLayouts.has(pragma("user_version"))) {
    throw new Error("the file was written by another release");
  }
  file.exec(
    `CREATE TABLE IF NOT EXISTS ${table} (key TEXT PRIMARY KEY, start TEXT NOT NULL,
       state TEXT NOT NULL, used_at REAL NOT NULL) STRICT, WITHOUT ROWID`,
  );
};

/** The file itself, and those that SQLite keeps beside it. */
const ends = ["", "-wal", "-shm", "-journal"];

/** Opens the file, readable by its user only, and makes it where it is missing. */
const openedFile = async (path: string): Promise<DatabaseSync> => {
  const { DatabaseSync } = await import("node:sqlite");
  makeOwnFolder(dirname(path));
  // Opening what somebody else made could take for ever.
  for (const end of ends) assertOwnFile(path + end);
  closeSync(openSync(path, "a", 0o600));
  const file = new DatabaseSync(path, { timeout: busyMs });
  try {
    prepare(file);
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
};

/** A damaged file is thrown away: what it holds is found out again. */
const soundFile = async (path: string): Promise<DatabaseSync> => {
  try {
    return await openedFile(path);
  } catch (error) {
    if (!damaged.has(codeOf(error))) throw error;
    for (const end of ends) rmSync(path + end, { force: true });
    return openedFile(path);
  }
};

/** Processes that start together and make the file stand in each other's way for a moment. */
const fileSoon = async (path: string): Promise<DatabaseSync> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await soundFile(path);
    } catch (error) {
      if (!inUse.has(codeOf(error)) || attempt === mostAttempts) throw error;
      await pause(attempt * 5 * (1 + Math.random()));
    }
  }
};

/** The buckets in an open file. Every method fails where the file does. */
class BucketFile {
  readonly #file: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #read: StatementSync;
  readonly #write: StatementSync;
  readonly #time: MachineTime;
  readonly #wall: () => number;

  constructor(file: DatabaseSync, { time = machineTime(), wall = Date.now }: FileBucketsOptions) {
    this.#file = file;
    this.#time = time;
    this.#wall = wall;
    this.#begin = file.prepare("BEGIN IMMEDIATE");
    this.#commit = file.prepare("COMMIT");
    this.#read = file.prepare(`SELECT start, state, used_at FROM ${table} WHERE key = ?`);
    this.#write = file.prepare(
      `INSERT OR REPLACE INTO ${table} (key, start, state, used_at) VALUES (?, ?, ?, ?)`,
    );
    file.prepare(`DELETE FROM ${table} WHERE used_at < ?`).run(wall() - unusedMs);
  }

  change<R>(key: string, change: StoreChange<R>): R {
    this.#begin.run();
    try {
      const now = this.#time.now();
      const before = this.#keptFor(key, now);
      const { state, result } = change(before, now, 1);
      if (state && state !== before) {
        this.#write.run(key, this.#time.start, JSON.stringify(state), this.#wall());
      }
      this.#commit.run();
      return result;
    } catch (error) {
      if (this.#file.isTransaction) this.#file.exec("ROLLBACK");
      throw error;
    }
  }

  close(): void {
    this.#file.close();
  }

  #keptFor(key: string, now: number): Kept | undefined {
    const row = this.#read.get(key);
    const kept = keptOf(row?.state);
    if (!row || !kept || row.start === this.#time.start) return kept;
    // The machine was started anew, and its time too: only the wall clock shows what has passed.
    return { ...kept, at: now - Math.max(0, this.#wall() - Number(row.used_at)) };
  }
}

/**
 * Buckets that all processes of this machine and user share, in a small SQLite file. Opens it on
 * first use.
 *
 * Rejects where the file cannot be used: see `withLocalBuckets`.
 */
export const fileBuckets = (options: FileBucketsOptions): BucketStore => {
  let file: Promise<BucketFile> | undefined;
  const ended = async (opened: Promise<BucketFile> | undefined): Promise<void> => {
    if (file === opened) file = undefined;
    await opened?.then((one) => one.close()).catch(() => {});
  };
  return {
    change: async (key, change) => {
      file ??= fileSoon(options.path).then((opened) => new BucketFile(opened, options));
      const used = file;
      try {
        return (await used).change(key, change);
      } catch (error) {
        void ended(used);
        throw error;
      }
    },
    close: () => ended(file),
  };
};
