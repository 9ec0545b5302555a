import { randomUUID } from "node:crypto";
import type { Definition, Field, Fields } from "../../provider/definition/define.js";
import { isObject, type JsonObject, objectOf } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { HttpError, invalidAttribute } from "../http/exchange.js";
import type { OperationHandler } from "../service/calls.js";
import { type EmulatorClock, timestamp } from "../service/clock.js";
import type { Switches } from "../service/switches.js";
import { hideSecrets } from "./secrets.js";
import { dateTimeRule, isDateTime, validate } from "./validate.js";

interface StoredReference {
  readonly to: Definition;
  readonly id: string;
  readonly path: string;
}

const findReferencesInside = (field: Field, value: unknown, path: string): StoredReference[] => {
  switch (field.type) {
    case "reference": {
      const id = field.plainId ? value : isObject(value) ? value.id : undefined;
      return typeof id === "string"
        ? [{ to: field.to, id, path: field.plainId ? path : `${path}.id` }]
        : [];
    }
    case "object":
      return isObject(value) ? findReferences(field, value, `${path}.`) : [];
    case "list": {
      const items = field.envelope && isObject(value) ? value[field.envelope] : value;
      return Array.isArray(items)
        ? items.flatMap((item, place) => findReferencesInside(field.of, item, `${path}[${place}]`))
        : [];
    }
    default:
      return [];
  }
};

export const findReferences = (
  { fields }: { readonly fields: Fields },
  object: JsonObject,
  prefix = "",
): StoredReference[] =>
  Object.entries(fields).flatMap(([name, field]) => {
    const wire = field.wire ?? name;
    return findReferencesInside(field, object[wire], prefix + wire);
  });

/** An object in the store, with secrets in plain text. */
export type StoredObject = JsonObject & {
  readonly id: string;
  readonly created: string;
  readonly modified: string;
};

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
    field.type === "text" && field.unique ? [field.wire ?? name] : [],
  );

/** One change of a collection, to be undone by `stale-list`. */
interface Change {
  readonly at: number;
  readonly id: string;
  /** The object as it was; undefined if there was none. */
  readonly before: StoredObject | undefined;
}

/** So many of a collection's changes can be undone, and fewer if their objects have longer texts. */
const [mostChanges, mostCharacters] = [4_000, 32_000_000];

/** The length of an object's own texts: only one of them, a channel's icon, can be long. */
const textLength = (object: StoredObject | undefined): number =>
  Object.values(object ?? {}).reduce<number>(
    (sum, value) => sum + (typeof value === "string" ? value.length : 0),
    0,
  );

interface Table {
  readonly definition: Definition;
  readonly objects: Map<string, StoredObject>;
  /** The objects as a list, made when it is asked for and kept until one changes. */
  listed: readonly StoredObject[] | undefined;
  /** For each unique member, the ID by its value. */
  readonly ids: ReadonlyMap<string, Map<unknown, string>>;
  changes: Change[];
  /** The length of the texts in the changes. */
  changed: number;
}

const emptyTable = (definition: Definition): Table => ({
  definition,
  objects: new Map(),
  listed: undefined,
  ids: new Map(uniqueMembers(definition).map((member) => [member, new Map()])),
  changes: [],
  changed: 0,
});

const referrerKey = ({ collection }: Definition, id: string): string => `${collection} ${id}`;

/** The objects in the setup collections, in order of creation. */
export class Store {
  readonly #tables = new Map<string, Table>();
  /** The number of references to each object. */
  readonly #referrers = new Map<string, number>();
  #version = 0;

  constructor(private readonly clock: EmulatorClock) {
    this.replaceAll({});
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
    this.#noteChange(table, object.id);
    this.#keep(table, object);
  }

  remove(collection: string, id: string): void {
    const table = this.#table(collection);
    this.#noteChange(table, id);
    this.#release(table, id);
    table.objects.delete(id);
  }

  /** A collection's objects as they were `ms` milliseconds ago, in order of creation. */
  allBefore(collection: string, ms: number): readonly StoredObject[] {
    const { objects, changes } = this.#table(collection);
    const earlier = new Map(objects);
    const moment = this.clock.now() - ms;
    for (const { id, before } of changes.filter(({ at }) => at > moment).reverse()) {
      if (before) earlier.set(id, before);
      else earlier.delete(id);
    }
    return [...earlier.values()].sort((a, b) => Date.parse(a.created) - Date.parse(b.created));
  }

  replaceAll(objects: ObjectsByCollection): void {
    this.#referrers.clear();
    for (const definition of resources) {
      const table = emptyTable(definition);
      for (const object of objects[definition.collection] ?? []) this.#keep(table, object);
      this.#tables.set(definition.collection, table);
    }
    this.#version += 1;
  }

  #noteChange(table: Table, id: string): void {
    const before = table.objects.get(id);
    table.changes.push({ at: this.clock.now(), id, before });
    table.changed += textLength(before);
    if (table.changes.length >= mostChanges || table.changed > mostCharacters) {
      const forgotten = table.changes.splice(0, table.changes.length / 2);
      for (const change of forgotten) table.changed -= textLength(change.before);
    }
    this.#version += 1;
  }

  /** Adds or replaces an object, and records its references and unique values. */
  #keep(table: Table, object: StoredObject): void {
    this.#release(table, object.id);
    table.objects.set(object.id, object);
    for (const [member, byValue] of table.ids) byValue.set(object[member], object.id);
    this.#countReferences(table.definition, object, 1);
  }

  /**
   * Releases the unique values and references of an object that is about to change or be removed.
   */
  #release(table: Table, id: string): void {
    const object = table.objects.get(id);
    for (const [member, byValue] of table.ids) byValue.delete(object?.[member]);
    table.listed = undefined;
    if (object) this.#countReferences(table.definition, object, -1);
  }

  #countReferences(definition: Definition, object: StoredObject, change: number): void {
    for (const { to, id } of findReferences(definition, object)) {
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

/** What the operations on objects need. */
interface ObjectsHub {
  readonly clock: EmulatorClock;
  readonly store: Store;
  readonly switches: Switches;
}

const findObject = ({ store }: ObjectsHub, definition: Definition, id: string): StoredObject => {
  const object = store.get(definition.collection, id);
  if (!object) throw new HttpError(404, "404-101", `There is no ${definition.noun} with this ID.`);
  return object;
};

/** Asserts that no other object of a kind has the same unique name. @param own ID of the object itself */
const assertUnique = (
  { store }: ObjectsHub,
  { collection }: Definition,
  object: JsonObject,
  own: string | undefined,
): void => {
  const taken = store.takenMember(collection, object, own);
  if (taken !== undefined)
    throw invalidAttribute(taken, "must be unique; another object has the same value", "400-138");
};

/** Asserts that everything an object refers to exists. */
const assertReferences = (
  { store, switches }: ObjectsHub,
  definition: Definition,
  object: JsonObject,
): void => {
  if (switches.unknownReference === "accept") return;
  for (const { to, id, path } of findReferences(definition, object))
    if (!store.get(to.collection, id)) throw invalidAttribute(path, `no ${to.noun} has this ID`);
};

/** A PUT may carry the time of the last change; an older one is ignored (assumed). */
const assertDateTime = (modified: unknown): void => {
  if (modified !== undefined && !isDateTime(modified))
    throw invalidAttribute("modified", dateTimeRule);
};

/**
 * The members that a PUT leaves in place by switch: those that it neither names nor contradicts.
 */
const keptMembers = (
  { switches }: ObjectsHub,
  { rule }: Definition,
  body: JsonObject,
  before: StoredObject,
): JsonObject => {
  if (switches.put === "replace") return {};
  const variants = rule && "exactlyOne" in rule ? Object.values(rule.exactlyOne) : [];
  return objectOf(
    Object.entries(before).filter(
      ([name]) => !variants.includes(name) && !Object.hasOwn(body, name),
    ),
  );
};

/** The body in the form to store, and what remains of the object before it. */
const checkedBody = (
  hub: ObjectsHub,
  definition: Definition,
  sent: JsonObject,
  before?: StoredObject,
) => {
  // Only a PUT may carry the time of the last change.
  const { modified, ...rest } = sent;
  const body = before ? rest : sent;
  const kept = before ? keptMembers(hub, definition, body, before) : {};
  const checked = { ...validate(definition, body, hub.switches), ...kept };
  assertUnique(hub, definition, checked, before?.id);
  assertReferences(hub, definition, checked);
  if (before) assertDateTime(modified);
  return checked;
};

/** Query parameters of a sibling service (vendor): the minimum, maximum, and default of each. */
const pageParameters = { $pagenum: [1, 999, 1], $pagesize: [1, 75, 25] } as const;

const pageParameter = (query: URLSearchParams, name: keyof typeof pageParameters): number => {
  const [text, ...more] = query.getAll(name);
  const [min, max, usual] = pageParameters[name];
  if (text === undefined) return usual;
  const number = /^\d{1,4}$/.test(text) && more.length === 0 ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw invalidAttribute(name, `must be a whole number from ${min} to ${max}`);
};

/** The part of a list that the query asks for. */
const pageOf = (objects: readonly StoredObject[], query: URLSearchParams) => {
  const unknown = [...query.keys()].find((name) => !Object.hasOwn(pageParameters, name));
  if (unknown !== undefined) {
    const name = unknown.slice(0, 60);
    throw new HttpError(400, "400-101", `The query parameter ${name} is not supported.`);
  }
  const pagenum = pageParameter(query, "$pagenum");
  const pagesize = pageParameter(query, "$pagesize");
  const items = objects.slice((pagenum - 1) * pagesize, pagenum * pagesize);
  return { items, paginationInfo: { count: objects.length, pagenum, pagesize } };
};

/** The five operations of a setup collection (specification §4.1). */
export const collectionOperations = (definition: Definition) => {
  const { collection, fields, listKey, noun } = definition;

  const create: OperationHandler<ObjectsHub> = (hub, { body }) => {
    const checked = checkedBody(hub, definition, body());
    const id = randomUUID();
    const created = timestamp(hub.clock.now());
    hub.store.put(collection, { ...checked, id, created, modified: created });
    return { status: 201, body: { id } };
  };

  const list: OperationHandler<ObjectsHub> = ({ store, switches }, { query, fault }) => {
    if (fault?.kind === "forbidden-list")
      throw new HttpError(403, "403-197", "You are not allowed to list this collection.");
    const isStale = fault?.kind === "stale-list";
    const objects = isStale ? store.allBefore(collection, fault.ms ?? 0) : store.all(collection);
    const { items, paginationInfo } = pageOf(objects, query);
    const shown = items.map((object) => hideSecrets(fields, object, switches.secrets));
    return { status: 200, body: { paginationInfo, [listKey]: shown } };
  };

  const get: OperationHandler<ObjectsHub> = (hub, { id }) => ({
    status: 200,
    body: hideSecrets(fields, findObject(hub, definition, id), hub.switches.secrets),
  });

  const update: OperationHandler<ObjectsHub> = (hub, { id, body }) => {
    // A missing object is reported before errors in the body.
    const before = findObject(hub, definition, id);
    const checked = checkedBody(hub, definition, body(), before);
    const modified = timestamp(hub.clock.now());
    hub.store.put(collection, { ...checked, id, created: before.created, modified });
    return { status: 204 };
  };

  // Every reference counts: those of orchestrations, too (assumed). As in the service, the refusal
  // does not name the other object.
  const remove: OperationHandler<ObjectsHub> = (hub, { id }) => {
    findObject(hub, definition, id);
    if (hub.store.isReferredTo(definition, id))
      throw new HttpError(400, "400-113", `The ${noun} is in use and cannot be deleted.`);
    hub.store.remove(collection, id);
    return { status: 204 };
  };

  return { create, list, get, update, remove };
};
