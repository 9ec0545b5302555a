import type { JsonObject } from "../provider/definition/json.js";
import { resources } from "../provider/resources/index.js";
import type { EmulatorClock } from "./clock.js";

/** An object as the emulator keeps it, secrets included. */
export type StoredObject = JsonObject & {
  readonly id: string;
  readonly created: string;
  readonly modified: string;
};

/** Where what must outlive the process is written before it is acknowledged. */
export interface Journal {
  write(section: string, key: string, value: unknown): void;
  remove(section: string, key: string): void;
  clear(section: string): void;
  /** Writes all or nothing of what the work writes, however the process ends. */
  together(work: () => void): void;
  /** In the order in which the keys were first written. */
  read(section: string): readonly (readonly [key: string, value: unknown])[];
  close(): void;
}

export const noJournal: Journal = {
  write: () => undefined,
  remove: () => undefined,
  clear: () => undefined,
  together: (work) => work(),
  read: () => [],
  close: () => undefined,
};

interface Change {
  readonly at: number;
  readonly id: string;
  readonly before: StoredObject | undefined;
}

/** Changes kept for lists of an earlier moment. */
const mostChanges = 10_000;

const sectionOf = (collection: string): string => `object ${collection}`;

/** The objects of the set-up collections, in the order of their creation. */
export class Store {
  readonly #tables = new Map<string, Map<string, StoredObject>>();
  readonly #changes = new Map<string, Change[]>();
  readonly #clock: EmulatorClock;
  readonly #journal: Journal;

  constructor(
    clock: EmulatorClock,
    journal: Journal,
    isStored: (value: unknown) => value is StoredObject,
  ) {
    this.#clock = clock;
    this.#journal = journal;
    for (const { collection } of resources) {
      const saved = journal.read(sectionOf(collection)).map(([, value]) => value);
      this.#tables.set(
        collection,
        new Map(saved.filter(isStored).map((object) => [object.id, object])),
      );
    }
  }

  all(collection: string): readonly StoredObject[] {
    return [...this.#table(collection).values()];
  }

  get(collection: string, id: string): StoredObject | undefined {
    return this.#table(collection).get(id);
  }

  put(collection: string, object: StoredObject): void {
    this.#journal.write(sectionOf(collection), object.id, object);
    this.#remember(collection, object.id);
    this.#table(collection).set(object.id, object);
  }

  remove(collection: string, id: string): void {
    this.#journal.remove(sectionOf(collection), id);
    this.#remember(collection, id);
    this.#table(collection).delete(id);
  }

  /** The objects as they were some time ago. */
  allBefore(collection: string, ms: number): readonly StoredObject[] {
    const since = this.#clock.now() - ms;
    const objects = new Map(this.#table(collection));
    for (const { id, before } of (this.#changes.get(collection) ?? [])
      .filter(({ at }) => at > since)
      .reverse()) {
      if (before) objects.set(id, before);
      else objects.delete(id);
    }
    return [...objects.values()];
  }

  /** Puts other objects in the place of all. */
  replaceAll(objects: Readonly<Record<string, readonly StoredObject[]>>): void {
    for (const { collection } of resources) {
      this.#journal.clear(sectionOf(collection));
      this.#table(collection).clear();
      this.#changes.delete(collection);
      for (const object of objects[collection] ?? []) {
        this.#journal.write(sectionOf(collection), object.id, object);
        this.#table(collection).set(object.id, object);
      }
    }
  }

  #table(collection: string): Map<string, StoredObject> {
    const table = this.#tables.get(collection);
    if (!table) throw new Error(`No collection ${collection}`);
    return table;
  }

  #remember(collection: string, id: string): void {
    const changes = this.#changes.get(collection) ?? [];
    changes.push({ at: this.#clock.now(), id, before: this.#table(collection).get(id) });
    if (changes.length > mostChanges) changes.splice(0, changes.length - mostChanges);
    this.#changes.set(collection, changes);
  }
}
