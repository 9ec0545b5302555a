import { chmodSync, closeSync, openSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";

/** How the data is kept; a later way gets a higher number. */
const dataVersion = 1;

/** Nobody else may read it: secrets are in it in plain text. */
const ownerOnly = 0o600;

/** No SQLite file is shorter; SQLite itself would overwrite a shorter one. */
const shortest = 512;

/**
 * Creates a missing data file, private to its owner, as are SQLite's files beside it.
 *
 * @throws Error if it cannot be the data of an emulator, without changing anything
 */
const prepareFile = (file: string): void => {
  if (file === ":memory:") return;
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isDirectory()) throw new Error("it is a folder");
  if (found && !found.isFile()) throw new Error("it is not a regular file");
  if (found && found.size > 0 && found.size < shortest)
    throw new Error("it is not an emulator data file");
  if (!found) closeSync(openSync(file, "a", ownerOnly));
};

const numberIn = (database: DatabaseSync, query: string): number =>
  Number(Object.values(database.prepare(query).get() ?? {})[0]);

/**
 * @throws Error if a database belongs to something else, or to a newer emulator, without
 * changing anything
 */
const assertIsNoOther = (database: DatabaseSync): void => {
  const tables = "SELECT count(*) FROM sqlite_master WHERE type = 'table'";
  const isEmpty = numberIn(database, tables) === 0;
  if (!isEmpty && numberIn(database, `${tables} AND name = 'documents'`) === 0)
    throw new Error("it is another application's database");
  if (numberIn(database, "PRAGMA user_version") > dataVersion)
    throw new Error("it is from a newer version of the emulator");
};

/** Durable storage. Data is written here before the emulator acknowledges it. */
export interface Journal {
  write(section: string, key: string, value: unknown): void;
  remove(section: string, key: string): void;
  clear(section: string): void;
  /** Makes all writes in `work` atomic, no matter how the process ends. Calls may be nested. */
  together(work: () => void): void;
  /** Reads a section, in the order in which its keys were first written. */
  read(section: string): readonly (readonly [key: string, value: unknown])[];
  close(): void;
}

/** The journal of an emulator that stores nothing on disk. */
export const noJournal: Journal = {
  write: () => undefined,
  remove: () => undefined,
  clear: () => undefined,
  together: (work) => work(),
  read: () => [],
  close: () => undefined,
};

/** How long to wait for another emulator that is shutting down. */
const lockTimeoutMs = 2_000;

// Exclusive: two emulators on one file would each overwrite what the other has acknowledged.
const setUp = `
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS documents (
    place INTEGER PRIMARY KEY, section TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
    UNIQUE (section, key)
  );
  BEGIN IMMEDIATE;
  PRAGMA user_version = ${dataVersion};
  COMMIT;`;

/** Without the parser's message, which may repeat a secret. */
const parsed = (text: string, section: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`a row in the section "${section}" is not JSON`);
  }
};

const journalIn = (database: DatabaseSync): Journal => {
  database.exec(setUp);
  const write = database.prepare(
    "INSERT INTO documents (section, key, value) VALUES (?, ?, ?) ON CONFLICT (section, key) DO UPDATE SET value = excluded.value",
  );
  const remove = database.prepare("DELETE FROM documents WHERE section = ? AND key = ?");
  const clear = database.prepare("DELETE FROM documents WHERE section = ?");
  const read = database.prepare(
    "SELECT key, value FROM documents WHERE section = ? ORDER BY place",
  );
  return {
    write: (section, key, value) => void write.run(section, key, JSON.stringify(value)),
    remove: (section, key) => void remove.run(section, key),
    clear: (section) => void clear.run(section),
    together: (work) => {
      if (database.isTransaction) return work();
      database.exec("BEGIN IMMEDIATE");
      try {
        work();
        database.exec("COMMIT");
      } catch (error) {
        if (database.isTransaction) database.exec("ROLLBACK");
        throw error;
      }
    },
    read: (section) =>
      read.all(section).map(({ key, value }) => [String(key), parsed(String(value), section)]),
    close: () => database.close(),
  };
};

/** An error that describes what is wrong with a data file, and what to do about it. */
export const dataFileError = (file: string, error: unknown): Error => {
  const reason = error instanceof Error ? error.message : String(error);
  const other = /locked/.test(reason) ? ", or stop the emulator that uses this one" : "";
  return new Error(`Could not use the data file ${file}: ${reason}. Choose another file${other}.`, {
    cause: error,
  });
};

/**
 * A journal in a SQLite file that only its owner can read. Every write or group of writes is a
 * committed transaction, so acknowledged data survives no matter how the process ends.
 *
 * @throws Error that names the file if the file cannot be opened or is not a journal
 */
export const sqliteJournal = (file: string): Journal => {
  // Loaded only here, as Node 22 prints a warning when it loads this module.
  const sqlite = process.getBuiltinModule("node:sqlite");
  let database: DatabaseSync | undefined;
  try {
    prepareFile(file);
    database = new sqlite.DatabaseSync(file, { timeout: lockTimeoutMs });
    assertIsNoOther(database);
    if (file !== ":memory:") chmodSync(file, ownerOnly);
    return journalIn(database);
  } catch (error) {
    database?.close();
    throw dataFileError(file, error);
  }
};
