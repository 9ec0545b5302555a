import { readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import type { EmulatedService } from "../hub/service.js";
import { putSnapshot, takeSnapshot } from "./snapshot.js";

/** Between a change and its way into the file: many changes at once are written together. */
const delayMs = 100;

/** Nobody else may read it: secrets are in it in plain text. */
const ownerOnly = 0o600;

/** @throws Error that names the file, if the work fails */
const workWith = (file: string, work: () => void): void => {
  try {
    work();
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/\.$/, "") : String(error);
    throw new Error(`Could not use the data file ${file}: ${reason}. Choose another file.`, {
      cause: error,
    });
  }
};

/** Puts into the service what the file holds, if it exists. */
const load = (service: EmulatedService, file: string): void => {
  const facts = statSync(file, { throwIfNoEntry: false });
  if (facts && !facts.isFile()) throw new Error("it is not a regular file");
  if (!facts || facts.size === 0) return;
  let document: unknown;
  try {
    document = JSON.parse(readFileSync(file, "utf8"));
  } catch {
    // Without the parser's message, which may repeat a secret.
    throw new Error("it is not an emulator data file");
  }
  putSnapshot(service, document);
  const { clients } = service;
  const own = clients.get(clients.own.clientId);
  if (own) clients.put(own);
};

/**
 * Loads the file in which an emulator keeps its data, as a snapshot that only its owner can read,
 * and writes it anew.
 *
 * @throws Error that names the file, if it cannot be written or holds something else; it is then
 * unchanged
 */
export const openDataFile = (service: EmulatedService, file: string) => {
  let written: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  const version = (): string | undefined => {
    const facts = statSync(file, { throwIfNoEntry: false });
    return facts && `${facts.ino} ${facts.mtimeMs}`;
  };
  const write = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const found = version();
    if (written !== undefined && found !== undefined && found !== written)
      throw new Error("another process has replaced it");
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, JSON.stringify(takeSnapshot(service)), { mode: ownerOnly });
    renameSync(draft, file);
    written = version();
  };
  const save = (): void => workWith(file, write);
  const saveOrWarn = (): void => {
    try {
      save();
    } catch (error) {
      process.emitWarning(error instanceof Error ? error.message : String(error));
    }
  };
  workWith(file, () => load(service, file));
  save();
  return {
    save,
    /** A failure is a warning of the process. */
    saveSoon: (): void => {
      timer ??= setTimeout(saveOrWarn, delayMs).unref();
    },
  };
};
