import { chmodSync, closeSync, openSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";

/** Where what must outlive the process is written before it is acknowledged. */
export interface Journal {
  write(section: string, key: string, value: unknown): void;
  remove(section: string, key: string): void;
  clear(section: string): void;
  /** Writes all or nothing of what the work writes, however the process ends. May be nested. */
  together(work: () => void): void;
  /** In the order in which the keys were first written. */
  read(section: string): readonly (readonly [key: string, value: unknown])[];
  close(): void;
}

/** For an emulator that keeps nothing beyond its process. */
export const noJournal: Journal = {
  write: () => undefined,
  remove: () => undefined,
  clear: () => undefined,
  together: (work) => work(),
  read: () => [],
  close: () => undefined,
};

/** How long to wait for another emulator that is about to end. */
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
  COMMIT;`;

const together = (database: DatabaseSync, writes: () => void): void => {
  if (database.isTransaction) {
    writes();
    return;
  }
  database.exec("BEGIN IMMEDIATE");
  try {
    writes();
    database.exec("COMMIT");
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
};

/** Without the reason of the parser, which repeats what may be a secret. */
const parsed = (text: string, section: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`a row of the section "${section}" is no JSON`);
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
    together: (writes) => together(database, writes),
    read: (section) =>
      read.all(section).map(({ key, value }) => [String(key), parsed(String(value), section)]),
    close: () => database.close(),
  };
};

/** What went wrong with a data file, and what to do. */
export const dataFileError = (file: string, error: unknown): Error => {
  const reason = error instanceof Error ? error.message : String(error);
  return new Error(
    `The data file ${file} cannot be used: ${reason}. Give another file, remove this one, or end the emulator that uses it.`,
    { cause: error },
  );
};

/** Nobody else may read it: secrets are in it in clear. SQLite gives its own further files the same mode. */
const ownerOnly = 0o600;

const makePrivate = (file: string): void => {
  closeSync(openSync(file, "a", ownerOnly));
  chmodSync(file, ownerOnly);
};

/**
 * A journal in a SQLite file that only its owner can read: every write is one committed transaction, so what was acknowledged
 * survives the end of the process, however it ends.
 *
 * @throws Error that names the file where it cannot be opened or is no such journal
 */
export const sqliteJournal = (file: string): Journal => {
  // Loaded here only: Node 22 prints a warning when this module is loaded.
  const sqlite = process.getBuiltinModule("node:sqlite");
  let database: DatabaseSync | undefined;
  try {
    if (file !== ":memory:") makePrivate(file);
    database = new sqlite.DatabaseSync(file, { timeout: lockTimeoutMs });
    return journalIn(database);
  } catch (error) {
    database?.close();
    throw dataFileError(file, error);
  }
};
