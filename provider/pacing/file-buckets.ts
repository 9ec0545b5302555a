import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { isInUse, openBucketFile, type Sqlite } from "./bucket-file.js";
import {
  type BucketRules,
  type BucketState,
  type Hold,
  holdBack,
  type Lesson,
  type Level,
  lessonOf,
  lessonText,
  type Taken,
  takeFrom,
} from "./buckets.js";
import { type MachineTime, machineTime } from "./machine-time.js";

export interface FileBucketsOptions {
  readonly path: string;
  /** Default: this machine's. */
  readonly time?: MachineTime;
  /** Wall clock in milliseconds, to forget what is old. Default: this machine's. */
  readonly wall?: () => number;
}

/** How long a lesson is believed. */
const lessonMs = 24 * 60 * 60_000;
/** Buckets that were not used for so long are removed. */
const keptMs = 7 * lessonMs;

const mostAttempts = 5;

interface Row extends Level {
  readonly lesson?: Lesson;
}

interface Statements {
  readonly read: StatementSync;
  readonly write: StatementSync;
}

const statementsOf = (file: DatabaseSync): Statements => ({
  read: file.prepare("SELECT * FROM buckets WHERE key = ?"),
  write: file.prepare(
    `INSERT OR REPLACE INTO buckets (key, start, empty_at, trial_by, trial_at, lesson, used_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  ),
});

/** The buckets in an open file. Every method fails where the file does. */
class BucketFile {
  readonly #file: DatabaseSync;
  readonly #statements: Statements;
  readonly #time: MachineTime;
  readonly #wall: () => number;

  constructor(file: DatabaseSync, time: MachineTime, wall: () => number) {
    this.#file = file;
    this.#time = time;
    this.#wall = wall;
    this.#statements = statementsOf(file);
    file.prepare("DELETE FROM buckets WHERE used_at < ?").run(wall() - keptMs);
  }

  take(key: string, rules: BucketRules): Taken {
    return this.#change(key, (row, now) => {
      const { level, taken } = takeFrom(row, now, rules);
      const result = row.lesson ? { ...taken, lesson: row.lesson } : taken;
      // Most questions change nothing: a wait is left unwritten.
      const same = taken.waitMs > 0 && !taken.trial && row.emptyAt === level.emptyAt;
      return { result, ...(same ? {} : { row: { ...row, ...level } }) };
    });
  }

  hold(key: string, hold: Hold): void {
    this.#change(key, (row, now) => ({
      result: undefined,
      row: { ...row, ...holdBack(row, now, hold) },
    }));
  }

  learn(key: string, lesson: Lesson): void {
    this.#change(key, (row, _now) => ({
      result: undefined,
      row: { ...row, lesson },
    }));
  }

  close(): void {
    this.#file.close();
  }

  #change<T>(
    key: string,
    change: (row: Row, now: number) => { readonly result: T; readonly row?: Row },
  ): T {
    this.#file.exec("BEGIN IMMEDIATE");
    try {
      const now = this.#time.now();
      const { result, row } = change(this.#rowOf(key), now);
      if (row) this.#write(key, row, now);
      this.#file.exec("COMMIT");
      return result;
    } catch (error) {
      if (this.#file.isTransaction) this.#file.exec("ROLLBACK");
      throw error;
    }
  }

  #write(key: string, row: Row, now: number): void {
    const { emptyAt = now, trialBy = null, trialAt = null, lesson } = row;
    const text = lesson ? lessonText(lesson) : "";
    const { start } = this.#time;
    this.#statements.write.run(key, start, emptyAt, trialBy, trialAt, text, this.#wall());
  }

  #rowOf(key: string): Row {
    const found = this.#statements.read.get(key);
    if (!found) return {};
    const { start, empty_at: emptyAt, trial_by: by, trial_at: at, used_at: usedAt } = found;
    const fresh = Math.abs(this.#wall() - Number(usedAt)) < lessonMs;
    const lesson = fresh ? lessonOf(found.lesson) : undefined;
    return {
      // The machine was started anew: its time cannot be compared.
      ...(start === this.#time.start ? { emptyAt: Number(emptyAt) } : {}),
      ...(typeof by === "string" ? { trialBy: by, trialAt: Number(at) } : {}),
      ...(lesson ? { lesson } : {}),
    };
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
export const fileBuckets = (options: FileBucketsOptions): BucketState => {
  let file: Promise<BucketFile> | undefined;
  const open = async (): Promise<BucketFile> => {
    const sqlite = await import("node:sqlite");
    const time = options.time ?? machineTime();
    const opened = await openedSoon(sqlite, options.path);
    return new BucketFile(opened, time, options.wall ?? Date.now);
  };
  const using = async <T>(work: (file: BucketFile) => T): Promise<T> => {
    file ??= open();
    try {
      return work(await file);
    } catch (error) {
      const broken = file;
      file = undefined;
      void broken.then((opened) => opened.close()).catch(() => {});
      throw error;
    }
  };
  return {
    take: (key, rules) => using((opened) => opened.take(key, rules)),
    hold: (key, hold) => using((opened) => opened.hold(key, hold)),
    learn: (key, lesson) => using((opened) => opened.learn(key, lesson)),
    close: async () => {
      const opened = file;
      file = undefined;
      await opened?.then((one) => one.close()).catch(() => {});
    },
  };
};
