import type { Definition } from "../../provider/definition/define.js";
import type { JsonObject } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import type { EmulatorClock } from "../clock.js";
import { History } from "../control/history.js";

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
  /** Writes all or nothing of what the work writes, however the process ends. May be nested. */
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

/** Objects of each collection, as a snapshot holds them. */
export type ObjectsByCollection = Readonly<Record<string, readonly StoredObject[]>>;

/** Members on the wire that no two objects of a kind share. */
export const uniqueMembers = ({ fields }: Definition): readonly string[] =>
  Object.entries(fields).flatMap(([name, field]) =>
    field.type === "text" && field.unique ? [field.wire ?? name] : [],
  );

interface Table {
  readonly objects: Map<string, StoredObject>;
  /** The objects as a list, made when it is asked for and kept until one changes. */
  listed: readonly StoredObject[] | undefined;
  /** For each unique member, the id by its value. */
  readonly ids: ReadonlyMap<string, Map<unknown, string>>;
  readonly history: History<StoredObject>;
}

const emptyTable = (definition: Definition): Table => ({
  objects: new Map(),
  listed: undefined,
  ids: new Map(uniqueMembers(definition).map((member) => [member, new Map()])),
  history: new History(),
});

/** Frees what is unique about an object that changes or goes. */
const release = (table: Table, id: string): void => {
  const object = table.objects.get(id);
  for (const [member, byValue] of table.ids) byValue.delete(object?.[member]);
  table.listed = undefined;
};

const keep = (table: Table, object: StoredObject): void => {
  release(table, object.id);
  table.objects.set(object.id, object);
  for (const [member, byValue] of table.ids) byValue.set(object[member], object.id);
};

const sectionOf = (collection: string): string => `object ${collection}`;

/** The objects of the set-up collections, in the order of their creation. */
export class Store {
  readonly #tables = new Map<string, Table>();
  readonly #clock: EmulatorClock;
  readonly #journal: Journal;

  /** @throws Error where the journal holds something that is no object */
  constructor(
    clock: EmulatorClock,
    journal: Journal,
    isStored: (value: unknown) => value is StoredObject,
  ) {
    this.#clock = clock;
    this.#journal = journal;
    for (const definition of resources) {
      const table = emptyTable(definition);
      this.#tables.set(definition.collection, table);
      for (const [key, value] of journal.read(sectionOf(definition.collection))) {
        if (!isStored(value))
          throw new Error(
            `${definition.collection} ${key.slice(0, 60)} is no object of the service`,
          );
        keep(table, value);
      }
    }
  }

  /** Every object, in the order of creation; the list is shared, not copied. */
  all(collection: string): readonly StoredObject[] {
    const table = this.#table(collection);
    table.listed ??= [...table.objects.values()];
    return table.listed;
  }

  get(collection: string, id: string): StoredObject | undefined {
    return this.#table(collection).objects.get(id);
  }

  /** The unique member of which another object than this one has the value. */
  takenMember(collection: string, object: JsonObject, own?: string): string | undefined {
    for (const [member, byValue] of this.#table(collection).ids) {
      const id = byValue.get(object[member]);
      if (id !== undefined && id !== own) return member;
    }
    return undefined;
  }

  put(collection: string, object: StoredObject): void {
    const table = this.#table(collection);
    this.#journal.write(sectionOf(collection), object.id, object);
    table.history.add(this.#clock.now(), object.id, table.objects.get(object.id));
    keep(table, object);
  }

  remove(collection: string, id: string): void {
    const table = this.#table(collection);
    this.#journal.remove(sectionOf(collection), id);
    table.history.add(this.#clock.now(), id, table.objects.get(id));
    release(table, id);
    table.objects.delete(id);
  }

  /** The objects as they were some time ago. */
  allBefore(collection: string, ms: number): readonly StoredObject[] {
    const { objects, history } = this.#table(collection);
    return history.undone(objects, this.#clock.now() - ms);
  }

  /** Puts other objects in the place of all. */
  replaceAll(objects: ObjectsByCollection): void {
    for (const definition of resources) {
      const { collection } = definition;
      this.#journal.clear(sectionOf(collection));
      const table = emptyTable(definition);
      for (const object of objects[collection] ?? []) {
        this.#journal.write(sectionOf(collection), object.id, object);
        keep(table, object);
      }
      this.#tables.set(collection, table);
    }
  }

  #table(collection: string): Table {
    const table = this.#tables.get(collection);
    if (!table) throw new Error(`There is no collection ${collection}.`);
    return table;
  }
}
