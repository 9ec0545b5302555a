import type { Definition, Field, Fields } from "../../provider/definition/define.js";
import { referencesOf, wireName } from "../../provider/definition/fields.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import type { EmulatorClock } from "../service/clock.js";
import type { Journal } from "../service/journal.js";

/** A reference that a stored object holds. */
interface StoredReference {
  readonly to: Definition;
  readonly id: string;
  readonly path: string;
}

const referencesInside = (field: Field, value: unknown, path: string): StoredReference[] => {
  switch (field.type) {
    case "reference": {
      const id = field.plainId ? value : isObject(value) ? value.id : undefined;
      return typeof id === "string"
        ? [{ to: field.to, id, path: field.plainId ? path : `${path}.id` }]
        : [];
    }
    case "object":
      return isObject(value) ? referencesAmong(field.fields, value, `${path}.`) : [];
    case "list": {
      const items = field.envelope && isObject(value) ? value[field.envelope] : value;
      return Array.isArray(items)
        ? items.flatMap((item, place) => referencesInside(field.of, item, `${path}[${place}]`))
        : [];
    }
    default:
      return [];
  }
};

const referencesAmong = (fields: Fields, values: JsonObject, prefix: string): StoredReference[] =>
  Object.entries(fields).flatMap(([name, field]) => {
    const wire = wireName(name, field);
    return referencesInside(field, values[wire], prefix + wire);
  });

const holdsReferences = new Map<Definition, boolean>();

const mayRefer = (definition: Definition): boolean => {
  const known = holdsReferences.get(definition);
  if (known !== undefined) return known;
  const holds = referencesOf(definition).length > 0;
  holdsReferences.set(definition, holds);
  return holds;
};

/** Every reference in an object's JSON. */
export const storedReferences = (
  definition: Definition,
  object: JsonObject,
): readonly StoredReference[] =>
  mayRefer(definition) ? referencesAmong(definition.fields, object, "") : [];

interface Change<T> {
  readonly at: number;
  readonly id: string;
  /** The object as it was; undefined if there was none. */
  readonly before: T | undefined;
  readonly weight: number;
}

/** The approximate size of a value in characters. */
const weightOf = (value: unknown): number => {
  if (typeof value === "string") return value.length + 16;
  if (typeof value !== "object" || value === null) return 8;
  let weight = 32;
  for (const member of Object.values(value)) weight += 16 + weightOf(member);
  return weight;
};

/** Maximum number of changes that can be undone. */
const mostChanges = 2_000;
/** Maximum size of the former objects, in characters: some hold pictures. */
const mostWeight = 4 * 1024 * 1024;

/**
 * The most recent changes to a collection, which the emulator undoes to show an earlier state.
 * Older changes cannot be undone.
 */
export class History<T extends { readonly id: string; readonly created: string }> {
  #changes: Change<T>[] = [];
  #weight = 0;

  add(at: number, id: string, before: T | undefined): void {
    const weight = weightOf(before);
    this.#changes.push({ at, id, before, weight });
    this.#weight += weight;
    if (this.#weight > mostWeight || this.#changes.length > 2 * mostChanges) this.#forgetOldest();
  }

  /** The objects at a given time, in order of creation. */
  undone(objects: ReadonlyMap<string, T>, moment: number): readonly T[] {
    const earlier = new Map(objects);
    const later = this.#changes.slice(-mostChanges).filter(({ at }) => at > moment);
    for (const { id, before } of later.reverse()) {
      if (before) earlier.set(id, before);
      else earlier.delete(id);
    }
    return [...earlier.values()].sort((a, b) => Date.parse(a.created) - Date.parse(b.created));
  }

  /** Trims the history to half its maximum size, so that trimming is rare. */
  #forgetOldest(): void {
    let from = 0;
    for (const { weight } of this.#changes) {
      const left = this.#changes.length - from;
      if (this.#weight <= mostWeight / 2 && left <= mostChanges) break;
      this.#weight -= weight;
      from += 1;
    }
    this.#changes = this.#changes.slice(from);
  }
}

/** An object in the store, with secrets in plain text. */
export type StoredObject = JsonObject & {
  readonly id: string;
  readonly created: string;
  readonly modified: string;
};

/**
 * Whether a value is an ISO 8601 date-time, the format of `created` and `modified` (public
 * reference).
 */
export const isDateTime = (value: unknown): value is string =>
  typeof value === "string" &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/i.test(value) &&
  !Number.isNaN(Date.parse(value));

/** Whether a value from a file or a snapshot is a valid stored object. */
export const isStoredObject = (value: unknown): value is StoredObject =>
  isObject(value) &&
  typeof value.id === "string" &&
  value.id.length > 0 &&
  value.id.length <= 255 &&
  isDateTime(value.created) &&
  isDateTime(value.modified);

/** A snapshot's objects, by collection. */
export type ObjectsByCollection = Readonly<Record<string, readonly StoredObject[]>>;

/** The wire names of members whose values must be unique among a kind's objects. */
export const uniqueMembers = ({ fields }: Definition): readonly string[] =>
  Object.entries(fields).flatMap(([name, field]) =>
    field.type === "text" && field.unique ? [wireName(name, field)] : [],
  );

interface Table {
  readonly definition: Definition;
  readonly objects: Map<string, StoredObject>;
  /** The objects as a list, made when it is asked for and kept until one changes. */
  listed: readonly StoredObject[] | undefined;
  /** For each unique member, the ID by its value. */
  readonly ids: ReadonlyMap<string, Map<unknown, string>>;
  readonly history: History<StoredObject>;
}

const emptyTable = (definition: Definition): Table => ({
  definition,
  objects: new Map(),
  listed: undefined,
  ids: new Map(uniqueMembers(definition).map((member) => [member, new Map()])),
  history: new History(),
});

const referrerKey = ({ collection }: Definition, id: string): string => `${collection} ${id}`;

const sectionOf = (collection: string): string => `object ${collection}`;

/** The objects in the setup collections, in order of creation. */
export class Store {
  readonly #tables = new Map<string, Table>();
  /** The number of references to each object. */
  readonly #referrers = new Map<string, number>();
  #version = 0;

  /** @throws Error if the journal contains anything that is not an object */
  constructor(
    private readonly clock: EmulatorClock,
    private readonly journal: Journal,
  ) {
    for (const definition of resources) {
      const table = emptyTable(definition);
      this.#tables.set(definition.collection, table);
      for (const [key, value] of journal.read(sectionOf(definition.collection))) {
        if (!isStoredObject(value))
          throw new Error(
            `${definition.collection} ${key.slice(0, 60)} is not a valid stored object`,
          );
        this.#keep(table, value);
      }
    }
  }

  /** A number that changes with every modification. */
  get version(): number {
    return this.#version;
  }

  /** Every object in a collection, in order of creation; the list is shared, not copied. */
  all(collection: string): readonly StoredObject[] {
    const table = this.#table(collection);
    table.listed ??= [...table.objects.values()];
    return table.listed;
  }

  count(collection: string): number {
    return this.#table(collection).objects.size;
  }

  /** Whether any object refers to this one, in any field. */
  isReferredTo(target: Definition, id: string): boolean {
    return this.#referrers.has(referrerKey(target, id));
  }

  get(collection: string, id: string): StoredObject | undefined {
    return this.#table(collection).objects.get(id);
  }

  /** The first unique member whose value another object already has, if any. */
  takenMember(collection: string, object: JsonObject, own?: string): string | undefined {
    for (const [member, byValue] of this.#table(collection).ids) {
      const id = byValue.get(object[member]);
      if (id !== undefined && id !== own) return member;
    }
    return undefined;
  }

  put(collection: string, object: StoredObject): void {
    const table = this.#table(collection);
    const { id } = object;
    this.journal.write(sectionOf(collection), id, object);
    this.journal.whenKept(() => {
      const before = table.objects.get(id);
      this.#keep(table, object);
      table.history.add(this.clock.now(), id, before);
      this.#version += 1;
    });
  }

  remove(collection: string, id: string): void {
    const table = this.#table(collection);
    this.journal.remove(sectionOf(collection), id);
    this.journal.whenKept(() => {
      table.history.add(this.clock.now(), id, table.objects.get(id));
      this.#release(table, id);
      table.objects.delete(id);
      this.#version += 1;
    });
  }

  /** A collection's objects as they were `ms` milliseconds ago. */
  allBefore(collection: string, ms: number): readonly StoredObject[] {
    const { objects, history } = this.#table(collection);
    return history.undone(objects, this.clock.now() - ms);
  }

  /** Replaces all objects. */
  replaceAll(objects: ObjectsByCollection): void {
    for (const { collection } of resources) {
      this.journal.clear(sectionOf(collection));
      for (const object of objects[collection] ?? [])
        this.journal.write(sectionOf(collection), object.id, object);
    }
    this.journal.whenKept(() => this.#keepOnly(objects));
  }

  #keepOnly(objects: ObjectsByCollection): void {
    this.#referrers.clear();
    for (const definition of resources) {
      const table = emptyTable(definition);
      for (const object of objects[definition.collection] ?? []) this.#keep(table, object);
      this.#tables.set(definition.collection, table);
    }
    this.#version += 1;
  }

  /** Adds or replaces an object, and records its references and unique values. */
  #keep(table: Table, object: StoredObject): void {
    this.#release(table, object.id);
    table.objects.set(object.id, object);
    for (const [member, byValue] of table.ids) byValue.set(object[member], object.id);
    this.#count(table.definition, object, 1);
  }

  /**
   * Releases the unique values and references of an object that is about to change or be removed.
   */
  #release(table: Table, id: string): void {
    const object = table.objects.get(id);
    for (const [member, byValue] of table.ids) byValue.delete(object?.[member]);
    table.listed = undefined;
    if (object) this.#count(table.definition, object, -1);
  }

  #count(definition: Definition, object: StoredObject, change: number): void {
    for (const { to, id } of storedReferences(definition, object)) {
      const key = referrerKey(to, id);
      const count = (this.#referrers.get(key) ?? 0) + change;
      if (count > 0) this.#referrers.set(key, count);
      else this.#referrers.delete(key);
    }
  }

  #table(collection: string): Table {
    const table = this.#tables.get(collection);
    if (!table) throw new Error(`There is no collection ${collection}.`);
    return table;
  }
}
