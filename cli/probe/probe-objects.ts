import { hash, randomBytes } from "node:crypto";
import { lstatSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import type { Definition } from "../../provider/definition/define.js";
import {
  deletionOrder,
  namingOf,
  naturalKey,
  normaliseFields,
} from "../../provider/definition/fields.js";
import { bodyOf } from "../../provider/definition/wire.js";
import { makeFolders, readOwnFile, writeOwnFile } from "../../provider/kernel/files.js";
import { isObject, type JsonObject, jsonIn } from "../../provider/kernel/json.js";
import { isId } from "../../provider/kernel/object-id.js";
import { cacheFolder, ownCacheFolder, tryLock } from "../../provider/pulumi-cli/own-folders.js";
import { resources } from "../../provider/resources/index.js";
import { CommandFailure, messageOf } from "../command.js";
import {
  isRefused,
  listIn,
  NoTenantAnswer,
  type TenantAnswer,
  type TenantClient,
} from "./tenant-client.js";

const entry = z.object({
  /** Path segment of the collection, such as `channels`. */
  collection: z.string(),
  /** Its unique name. */
  name: z.string(),
  /** Absent if it is not known whether it was made. */
  id: z.string().refine(isId).optional(),
  /** It was refused after an inconclusive refusal, upon which a tenant may have made it. */
  refused: z.literal(true).optional(),
});

const document = z.object({ baseUrl: z.string(), objects: z.array(entry) });

/** An object that a probe makes or has made. */
type JournalEntry = z.infer<typeof entry>;

/** @throws CommandFailure if it cannot be read: its objects would be left behind */
const savedIn = (file: string): readonly JournalEntry[] => {
  if (!lstatSync(file, { throwIfNoEntry: false })) return [];
  const text = readOwnFile(file);
  const saved = document.safeParse(text === undefined ? undefined : jsonIn(text)).data;
  if (saved) return saved.objects;
  throw new CommandFailure(
    `Cannot read ${file}, in which an earlier probe recorded its objects. Nothing was sent. Remove all objects named pulumi-conversation-probe-… from the tenant, and then remove the file.`,
  );
};

/** @throws CommandFailure if no journal can be kept: what a killed probe made would be left behind */
const assertCache = (env: NodeJS.ProcessEnv): void => {
  try {
    ownCacheFolder(env);
  } catch (error) {
    throw new CommandFailure(
      `The probe cannot record the objects that it creates: ${messageOf(error)}. Nothing was sent.`,
      1,
      { cause: error },
    );
  }
};

/** Path of a tenant's journal, in the user's cache folder. */
export const journalFile = (baseUrl: string, env: NodeJS.ProcessEnv): string => {
  const name = hash("sha256", baseUrl).slice(0, 16);
  return join(cacheFolder(env), "probe", `${name}.json`);
};

/**
 * A record of what a probe makes at a tenant, written before each object is made: a killed probe
 * leaves the journal, and the next one removes the objects in it.
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

  /** @throws CommandFailure if another probe is working on the tenant */
  static open(baseUrl: string, env: NodeJS.ProcessEnv): ProbeJournal {
    assertCache(env);
    const file = journalFile(baseUrl, env);
    const attempt = tryLock(`${file}.lock`);
    if (attempt.release) return ProbeJournal.#locked(file, baseUrl, attempt.release);
    throw new CommandFailure(
      `Cannot probe ${baseUrl}: ${attempt.heldBy} is already probing this tenant. Wait until it ends.`,
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

  /** Records that an object is about to be made. */
  begin(collection: string, name: string): JournalEntry {
    const begun: JournalEntry = { collection, name };
    this.#objects.push(begun);
    this.#write();
    return begun;
  }

  /** Records what was made. */
  made(begun: JournalEntry, id: string): void {
    begun.id = id;
    this.#write();
  }

  /** Records that it was most likely not made. */
  refused(begun: JournalEntry): void {
    begun.refused = true;
    this.#write();
  }

  /** Records that the object is gone, or was never made. */
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

const sign = "Created by pulumi-conversation probe, which also removes it.";

const placeholder = /^\$\{(\w+)\}$/;

/** The object with this name in the list of an answer. */
const namedIn = (definition: Definition, answer: TenantAnswer, name: string) => {
  const { items } = listIn(answer, definition.listKey);
  const key = nameMember(definition);
  return { items, found: items.find((item) => item[key] === name) };
};

/** The member that holds the name of an object of the kind. */
const nameMember = (definition: Definition): string => namingOf(definition).wire;

const mostPages = 200;

/** Pauses between looks for an object whose creation was never answered, in milliseconds. */
const patient = [1_000, 2_000, 4_000];

/** Only what can be an ID comes into a path: a tenant answers what it likes. */
const idIn = (value: unknown): string | undefined => {
  const id = isObject(value) ? value.id : undefined;
  const text = typeof id === "number" ? `${id}` : id;
  return isId(text) ? text : undefined;
};

/** The objects of a probe: recorded, made when they are needed, and all removed again. */
export class ProbeObjects {
  #serial = 0;
  /** Whether new objects do not appear in a list in time: then they cannot be looked up. */
  listsLag = false;
  readonly #first = new Map<string, string>();
  /** Entries of an earlier run: by now their IDs may be those of other objects. */
  readonly #earlier: ReadonlySet<JournalEntry>;

  constructor(
    private readonly client: TenantClient,
    private readonly journal: ProbeJournal,
  ) {
    this.#earlier = new Set(journal.objects);
    this.#reserve();
  }

  /** A unique name that everybody recognizes. */
  newName(definition: Definition): string {
    this.#serial += 1;
    const sample = definition.example[naturalKey(definition)];
    const prefix = typeof sample === "string" && sample.startsWith("custom.") ? "custom." : "";
    return `${prefix}pulumi-conversation-probe-${this.journal.run}-${this.#serial}`;
  }

  /** A complete body of a kind, under a unique name; what it refers to is made first. */
  async body(definition: Definition, changes: JsonObject = {}): Promise<JsonObject> {
    const references = await this.#resolved(definition.example);
    const inputs = normaliseFields(definition, isObject(references) ? references : {});
    const body = bodyOf(definition, inputs, this.client.settings);
    const described = "description" in definition.fields ? { description: sign } : {};
    const own = { ...described, [nameMember(definition)]: this.newName(definition) };
    return { ...body, ...own, ...changes };
  }

  /** Requests an object, which is removed at the end if it was made. */
  async post(definition: Definition, body: JsonObject): Promise<TenantAnswer> {
    const { collection } = definition;
    // Without a token nothing is sent, and nothing is to be recorded.
    await this.client.token();
    const begun = this.journal.begin(collection, `${body[nameMember(definition)]}`);
    this.#reserve();
    const { refusals } = this.client;
    const answer = await this.client
      .call("POST", `/${collection}`, { body })
      .catch((error: unknown) => {
        if (error instanceof NoTenantAnswer && error.isUnsent) this.journal.gone(begun);
        throw error;
      });
    const id = idIn(answer.body);
    if (id !== undefined && answer.status < 300) this.journal.made(begun, id);
    else if (isRefused(answer)) {
      // A repeat may have been refused because the call before it had taken the name.
      if (this.client.refusals > refusals) this.journal.refused(begun);
      else this.journal.gone(begun);
    }
    this.#reserve();
    return answer;
  }

  /** Requests a complete object of a kind. */
  async make(definition: Definition, changes?: JsonObject): Promise<TenantAnswer> {
    return this.post(definition, await this.body(definition, changes));
  }

  /** The ID of an object of a kind that the probe made. @throws Error if the tenant refuses one */
  async id(definition: Definition): Promise<string> {
    const known = this.#first.get(definition.kind);
    if (known !== undefined) return known;
    const answer = await this.make(definition);
    const id = idIn(answer.body);
    if (id === undefined || answer.status >= 300)
      throw new Error(`the tenant refused the ${definition.noun} (${answer.status})`);
    this.#first.set(definition.kind, id);
    return id;
  }

  /**
   * How many objects of a kind the probe has at the tenant, including those that may have been
   * made.
   */
  countOf(definition: Definition): number {
    return this.#entriesOf(definition).filter(({ refused }) => !refused).length;
  }

  /** Removes all objects of a kind now, and what uses them, as far as possible. */
  async removeAll(definition: Definition): Promise<void> {
    const order = deletionOrder(resources);
    for (const each of order.slice(0, order.indexOf(definition) + 1))
      for (const { id } of this.#entriesOf(each)) if (id !== undefined) await this.remove(each, id);
  }

  /** Removes one of the objects now. Returns the status. */
  async remove(definition: Definition, id: string): Promise<number> {
    const { status } = await this.client.call("DELETE", `/${definition.collection}/${id}`);
    if (status < 300 || status === 404) {
      const entry = this.journal.objects.find((each) => each.id === id);
      // Whether a 404 is the tenant's is looked at when all is removed.
      if (entry && status < 300) this.journal.gone(entry);
      if (this.#first.get(definition.kind) === id) this.#first.delete(definition.kind);
      this.#reserve();
    }
    return status;
  }

  /**
   * Removes what an earlier probe left; an object whose creation was not answered and that no list
   * shows yet stays in the journal for `cleanUp`.
   *
   * @returns what could not be removed, a sentence for each
   */
  cleanUpFirst(): Promise<readonly string[]> {
    return this.#cleaned([], () => undefined);
  }

  /**
   * Removes everything in the journal, users before what they use.
   *
   * @returns what could not be removed, a sentence for each
   */
  cleanUp(): Promise<readonly string[]> {
    return this.#cleaned(patient, (entry) => {
      if (this.listsLag && !entry.refused)
        return "the tenant did not confirm its creation, and lists show changes late; look for it on the tenant";
      this.journal.gone(entry);
      return undefined;
    });
  }

  /** @param unseen says why an object that no list shows is left; undefined if it is not */
  async #cleaned(
    pauses: readonly number[],
    unseen: (entry: JournalEntry) => string | undefined,
  ): Promise<readonly string[]> {
    this.client.startCleaning();
    const left: string[] = [];
    for (const definition of deletionOrder(resources))
      for (const entry of this.#entriesOf(definition)) {
        const became = await this.#removeEntry(definition, entry, entry.refused ? [] : pauses);
        if (became === "removed") this.journal.gone(entry);
        const why =
          became === "unseen" ? unseen(entry) : became === "removed" ? undefined : became.why;
        const id = entry.id === undefined ? "" : ` (${entry.id})`;
        if (why !== undefined) left.push(`${definition.noun} ${entry.name}${id}: ${why}`);
      }
    this.#first.clear();
    return left;
  }

  #entriesOf({ collection }: Definition): readonly JournalEntry[] {
    return this.journal.objects.filter((each) => each.collection === collection);
  }

  async #removeEntry(
    definition: Definition,
    entry: JournalEntry,
    pauses: readonly number[],
  ): Promise<"removed" | "unseen" | { readonly why: string }> {
    try {
      const isSure = entry.id !== undefined && (await this.#isOurs(definition, entry, entry.id));
      const id = isSure ? entry.id : await this.#lookedFor(definition, entry.name, pauses);
      if (id === undefined) return entry.id === undefined ? "unseen" : "removed";
      const { status } = await this.client.call("DELETE", `/${definition.collection}/${id}`);
      if (status < 300) return "removed";
      // Something in front of the tenant may say 404 to everything: its list is the proof.
      const isGone = status === 404 && (await this.#lookedUp(definition, entry.name)) === undefined;
      return isGone ? "removed" : { why: `the tenant refused its deletion (${status})` };
    } catch (error) {
      return { why: error instanceof NoTenantAnswer ? error.message : "its deletion failed" };
    }
  }

  /** Whether the object with an entry's ID is still the one that the probe made. */
  async #isOurs(definition: Definition, entry: JournalEntry, id: string): Promise<boolean> {
    if (!this.#earlier.has(entry)) return true;
    const { status, body } = await this.client.call("GET", `/${definition.collection}/${id}`);
    return status === 200 && isObject(body) && body[nameMember(definition)] === entry.name;
  }

  /** The ID of an object whose creation was never answered; a list may lag behind. */
  async #lookedFor(
    definition: Definition,
    name: string,
    pauses: readonly number[],
  ): Promise<string | undefined> {
    for (const pause of [...pauses, undefined]) {
      const id = await this.#lookedUp(definition, name);
      if (id !== undefined || pause === undefined) return id;
      await this.client.sleep(pause);
    }
    return undefined;
  }

  /** The ID of the object with this name in the list; undefined if there is none. */
  async #lookedUp(definition: Definition, name: string): Promise<string | undefined> {
    const seen = new Set<unknown>();
    for (let page = 1; page <= mostPages; page += 1) {
      const query = page === 1 ? {} : { query: `$pagenum=${page}` };
      const answer = await this.client.call("GET", `/${definition.collection}`, query);
      const { items, found } = namedIn(definition, answer, name);
      const id = idIn(found);
      if (id !== undefined) return id;
      if (answer.status !== 200)
        throw new NoTenantAnswer(`the tenant refused the list call (${answer.status})`);
      // A list that comes whole repeats the same, whatever page is requested.
      const more = items.filter((item) => !seen.has(item.id));
      if (more.length === 0) return undefined;
      for (const item of more) seen.add(item.id);
      const { count } = listIn(answer, definition.listKey);
      if (count !== undefined && seen.size >= count) return undefined;
    }
    return undefined;
  }

  #reserve(): void {
    // An object that may have been made has to be looked up first.
    this.client.reserved = this.journal.objects.reduce((sum, { id }) => sum + (id ? 1 : 2), 0);
  }

  async #resolved(value: unknown): Promise<unknown> {
    if (typeof value === "string") {
      const kind = placeholder.exec(value)?.[1];
      const definition = resources.find((each) => each.kind === kind);
      return definition ? this.id(definition) : value;
    }
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (const item of value) items.push(await this.#resolved(item));
      return items;
    }
    if (!isObject(value)) return value;
    const members: [string, unknown][] = [];
    for (const [name, member] of Object.entries(value))
      members.push([name, await this.#resolved(member)]);
    return Object.fromEntries(members);
  }
}
