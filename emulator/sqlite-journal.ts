import type { Journal } from "./store.js";

/**
 * A journal in a SQLite file: every write is one committed transaction, so what was acknowledged
 * survives the end of the process, however it ends.
 *
 * @throws Error that names the file where it cannot be opened or is no such journal
 */
export const sqliteJournal = (file: string): Journal => {
  // Loaded here only: Node 22 prints a warning when this module is loaded.
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  try {
    const database = new DatabaseSync(file);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    database.exec(
      "CREATE TABLE IF NOT EXISTS documents (place INTEGER PRIMARY KEY, section TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, UNIQUE (section, key))",
    );
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
        read.all(section).map((row) => [String(row.key), JSON.parse(String(row.value))]),
      close: () => database.close(),
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `The data file ${file} cannot be used: ${reason}. Give another file, or remove this one.`,
    );
  }
};
