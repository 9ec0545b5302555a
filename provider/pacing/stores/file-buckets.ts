import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { keptOf } from "../limiter/bucket-shape.js";
import { isInUse, openBucketFile, type Sqlite, table } from "./bucket-file.js";
import type { BucketStore, Change, Kept } from "./bucket-store.js";
import { type MachineTime, machineTime } from "./machine-time.js";

export interface FileBucketsOptions {
  readonly path: string;
  /** Default: this machine's. */
  readonly time?: MachineTime;
  /** Wall clock in milliseconds, for what outlives the start of the machine. Default: this machine's. */
  readonly wall?: () => number;
}

/** What was not used for a week is removed. */
const keptMs = 7 * 24 * 60 * 60_000;

/** With pauses of 5 to 50 ms between them: what four processes need that start together. */
const mostAttempts = 5;

/** The buckets in an open file. Every method fails where the file does. */
class BucketFile {
  readonly #file: DatabaseSync;
  readonly #read: StatementSync;
  readonly #write: StatementSync;
  readonly #time: MachineTime;
  readonly #wall: () => number;

  constructor(file: DatabaseSync, time: MachineTime, wall: () => number) {
    this.#file = file;
    this.#time = time;
    this.#wall = wall;
    this.#read = file.prepare(`SELECT start, state, used_at FROM ${table} WHERE key = ?`);
    this.#write = file.prepare(
      `INSERT OR REPLACE INTO ${table} (key, start, state, used_at) VALUES (?, ?, ?, ?)`,
    );
    file.prepare(`DELETE FROM ${table} WHERE used_at < ?`).run(wall() - keptMs);
  }

  change<R>(key: string, change: Change<R>): R {
    this.#file.exec("BEGIN IMMEDIATE");
    try {
      const now = this.#time.now();
      const before = this.#keptFor(key, now);
      const { state, result } = change(before, now, 1);
      if (state && state !== before) {
        this.#write.run(key, this.#time.start, JSON.stringify(state), this.#wall());
      }
      this.#file.exec("COMMIT");
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
    // The machine was started anew, and its time too: only the wall clock tells what has passed.
    return { ...kept, at: now - Math.max(0, this.#wall() - Number(row.used_at)) };
  }
}

/** Processes that start together and make the file stand in each other's way for a moment. */
const openedSoon = async (sqlite: Sqlite, path: string): Promise<DatabaseSync> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return openBucketFile(sqlite, path);
    } catch (error) {
      if (!isInUse(error) || attempt === mostAttempts) throw error;
      await pause(attempt * 5 * (1 + Math.random()));
    }
  }
};

/**
 * Buckets that all processes of this machine and user share, in a small SQLite file. Opens it on
 * first use.
 *
 * Rejects where the file cannot be used: see `withLocalBuckets`.
 */
export const fileBuckets = (options: FileBucketsOptions): BucketStore => {
  let file: Promise<BucketFile> | undefined;
  const open = async (): Promise<BucketFile> => {
    const sqlite = await import("node:sqlite");
    const time = options.time ?? machineTime();
    const opened = await openedSoon(sqlite, options.path);
    return new BucketFile(opened, time, options.wall ?? Date.now);
  };
  return {
    change: async (key, change) => {
      file ??= open();
      const used = file;
      try {
        return (await used).change(key, change);
      } catch (error) {
        if (file === used) file = undefined;
        void used.then((opened) => opened.close()).catch(() => {});
        throw error;
      }
    },
    close: async () => {
      const opened = file;
      file = undefined;
      await opened?.then((one) => one.close()).catch(() => {});
    },
  };
};
