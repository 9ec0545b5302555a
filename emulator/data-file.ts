import { chmodSync, closeSync, existsSync, openSync, readSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";

/** How the data is kept; a later way gets a higher number. */
export const dataVersion = 1;

/** Nobody else may read it: secrets are in it in clear. */
const ownerOnly = 0o600;

/** The first bytes of every SQLite file. */
const beginning = "SQLite format 3\0";

const beginningOf = (file: string): string => {
  const bytes = Buffer.alloc(beginning.length);
  const descriptor = openSync(file, "r");
  try {
    return bytes.toString("latin1", 0, readSync(descriptor, bytes));
  } finally {
    closeSync(descriptor);
  }
};

/**
 * Makes sure, before anything is changed, that a file may be the data of an emulator; a file that is
 * not there is made, for its owner only.
 *
 * @throws Error where it is something else
 */
export const assertMayBeData = (file: string): void => {
  if (file === ":memory:") return;
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) {
    closeSync(openSync(file, "a", ownerOnly));
    return;
  }
  if (found.isDirectory()) throw new Error("it is a folder");
  if (!found.isFile()) throw new Error("it is no plain file");
  if (found.size > 0 && beginningOf(file) !== beginning)
    throw new Error("it is not the data of an emulator");
};

const numberIn = (database: DatabaseSync, query: string): number =>
  Number(Object.values(database.prepare(query).get() ?? {})[0]);

/** @throws Error where a database belongs to something else, or to a newer emulator; nothing is changed then */
export const assertIsNoOther = (database: DatabaseSync): void => {
  const tables = "SELECT count(*) FROM sqlite_master WHERE type = 'table'";
  const isEmpty = numberIn(database, tables) === 0;
  if (!isEmpty && numberIn(database, `${tables} AND name = 'documents'`) === 0)
    throw new Error("it is a database of something else");
  if (numberIn(database, "PRAGMA user_version") > dataVersion)
    throw new Error("a newer version of the emulator wrote it");
};

/** Closes a data file to others, and what SQLite has put beside it. */
export const makePrivate = (file: string): void => {
  if (file === ":memory:") return;
  for (const each of [file, `${file}-wal`, `${file}-shm`, `${file}-journal`])
    if (existsSync(each)) chmodSync(each, ownerOnly);
};
