import { hash, randomBytes } from "node:crypto";
import { lstatSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { makeFolders, readOwnFile, writeOwnFile } from "../../provider/kernel/files.js";
import { jsonIn } from "../../provider/kernel/json.js";
import { CommandFailure, messageOf } from "../command.js";
import { cacheFolder, ownCacheFolder } from "../process/cache-folder.js";
import { tryLock } from "../process/file-lock.js";

const entry = z.object({
  /** Path segment of the collection, such as `channels`. */
  collection: z.string(),
  /** Its unique name. */
  name: z.string(),
  /** Left out: whether it was made is not known. */
  id: z.string().optional(),
  /** It was refused after a refusal that says nothing of it, upon which a tenant may have made it. */
  refused: z.literal(true).optional(),
});

const document = z.object({ baseUrl: z.string(), objects: z.array(entry) });

/** An object that a probe makes or has made. */
export type JournalEntry = z.infer<typeof entry>;

/** @throws CommandFailure where it cannot be read: what stands in it would be left behind */
const savedIn = (file: string): readonly JournalEntry[] => {
  if (!lstatSync(file, { throwIfNoEntry: false })) return [];
  const text = readOwnFile(file);
  const saved = document.safeParse(text === undefined ? undefined : jsonIn(text)).data;
  if (saved) return saved.objects;
  throw new CommandFailure(
    `${file} cannot be read: there an earlier probe has written down what it made. Nothing was sent. Look for objects named pulumi-conversation-probe-… at the tenant, remove them and then the file.`,
  );
};

/** @throws CommandFailure where no journal can be kept: what a killed probe made would be left behind */
const assertCache = (env: NodeJS.ProcessEnv): void => {
  try {
    ownCacheFolder(env);
  } catch (error) {
    throw new CommandFailure(
      `A probe writes down what it makes before it makes it, and cannot: ${messageOf(error)}. Nothing was sent.`,
      1,
      { cause: error },
    );
  }
};

/** Where the journal of a tenant is: in the user's cache folder. */
export const journalFile = (baseUrl: string, env: NodeJS.ProcessEnv): string => {
  const name = hash("sha256", baseUrl).slice(0, 16);
  return join(cacheFolder(env), "probe", `${name}.json`);
};

/**
 * What a probe has made at a tenant, written down before it is made: a probe that is killed leaves
 * the journal, and the next one removes what stands in it.
 */
export class ProbeJournal {
  #objects: JournalEntry[];
  /** New in every run; part of every name. */
  readonly run = randomBytes(4).toString("hex");

  private constructor(
    readonly file: string,
    private readonly baseUrl: string,
    private readonly unlock: () => void,
  ) {
    this.#objects = [...savedIn(file)];
  }

  /** @throws CommandFailure where another probe is at work on the tenant */
  static open(baseUrl: string, env: NodeJS.ProcessEnv): ProbeJournal {
    assertCache(env);
    const file = journalFile(baseUrl, env);
    const attempt = tryLock(`${file}.lock`);
    if (attempt.release) return ProbeJournal.#locked(file, baseUrl, attempt.release);
    throw new CommandFailure(
      `Probing ${baseUrl}: ${attempt.heldBy} is probing this tenant. Wait until it has ended.`,
    );
  }

  static #locked(file: string, baseUrl: string, unlock: () => void): ProbeJournal {
    try {
      return new ProbeJournal(file, baseUrl, unlock);
    } catch (error) {
      unlock();
      throw error;
    }
  }

  get objects(): readonly JournalEntry[] {
    return this.#objects;
  }

  /** Writes down that an object is about to be made. */
  begin(collection: string, name: string): JournalEntry {
    const begun: JournalEntry = { collection, name };
    this.#objects.push(begun);
    this.#write();
    return begun;
  }

  /** Writes down what was made. */
  made(begun: JournalEntry, id: string): void {
    begun.id = id;
    this.#write();
  }

  /** Writes down that it was most likely not made. */
  refused(begun: JournalEntry): void {
    begun.refused = true;
    this.#write();
  }

  /** The object is gone, or was never made. */
  gone(done: JournalEntry): void {
    this.#objects = this.#objects.filter((each) => each !== done);
    this.#write();
  }

  close(): void {
    if (this.#objects.length === 0) rmSync(this.file, { force: true });
    this.unlock();
  }

  #write(): void {
    makeFolders(dirname(this.file));
    writeOwnFile(this.file, JSON.stringify({ baseUrl: this.baseUrl, objects: this.#objects }));
  }
}
