import { randomUUID } from "node:crypto";
import type { Definition } from "../../provider/definition/define.js";
import { type JsonObject, objectOf } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { HttpError, invalidAttribute } from "../http/exchange.js";
import { timestamp } from "../service/clock.js";
import type { EmulatedService, OperationHandler } from "../service/service.js";
import type { Switches } from "../service/switches.js";
import { responseObject } from "./secrets.js";
import { isDateTime, type Store, type StoredObject, storedReferences } from "./store.js";
import { validate } from "./validate.js";

/** The input of the rules between objects. */
interface Stored {
  readonly store: Store;
  readonly switches: Switches;
}

/**
 * Asserts that no two objects of a kind share a unique name.
 *
 * @param own ID of the object itself, if it already exists
 */
const assertUnique = (
  { store }: Stored,
  { collection }: Definition,
  object: JsonObject,
  own: string | undefined,
): void => {
  const taken = store.takenMember(collection, object, own);
  if (taken === undefined) return;
  const rule = "must be unique; another object has the same value";
  throw new HttpError(400, "400-138", `${taken} ${rule}.`, [{ key: taken, value: rule }]);
};

/** Asserts that everything an object refers to exists. */
const assertReferences = (
  { store, switches }: Stored,
  definition: Definition,
  object: JsonObject,
): void => {
  if (switches.unknownReference === "accept") return;
  for (const { to, id, path } of storedReferences(definition, object))
    if (!store.get(to.collection, id)) throw invalidAttribute(path, `no ${to.noun} has this ID`);
};

/** Whether an object is referred to by one of a kind for which the specification has a rule. */
const isReferredToByRule = (store: Store, target: Definition, id: string): boolean =>
  resources
    .filter(({ holds = "spec" }) => holds === "spec")
    .some((definition) =>
      store
        .all(definition.collection)
        .some((object) =>
          storedReferences(definition, object).some(
            (reference) => reference.to.kind === target.kind && reference.id === id,
          ),
        ),
    );

const isInUse = ({ store, switches }: Stored, target: Definition, id: string): boolean => {
  // Taken literally, the rule says that any object of the holding kinds holds every one of these.
  if (target.heldByAny !== undefined && switches.channelRule === "any-client-application")
    return target.heldByAny.kinds.some(({ collection }) => store.count(collection) > 0);
  if (!store.isReferredTo(target, id)) return false;
  return switches.deletionRule === "every-reference" || isReferredToByRule(store, target, id);
};

/**
 * The deletion rules of the specification's §2, and the references of orchestrations (assumed).
 *
 * @throws HttpError that does not name the other object, as in the service
 */
const assertNotInUse = (stored: Stored, target: Definition, id: string) => {
  if (!isInUse(stored, target, id)) return;
  throw new HttpError(400, "400-113", `The ${target.noun} is in use and cannot be deleted.`);
};

const find = ({ store }: EmulatedService, definition: Definition, id: string): StoredObject => {
  const object = store.get(definition.collection, id);
  if (!object) throw new HttpError(404, "404-101", `There is no ${definition.noun} with this ID.`);
  return object;
};

/** A PUT may carry a time; with the switch `staleModified` it must be that of the last change. */
const assertFresh = ({ switches }: EmulatedService, object: StoredObject, modified: unknown) => {
  if (modified === undefined) return;
  if (!isDateTime(modified)) {
    const rule = "must be an ISO 8601 date-time";
    throw new HttpError(400, "400-196", `modified ${rule}.`, [{ key: "modified", value: rule }]);
  }
  const isStale = Date.parse(modified) !== Date.parse(object.modified);
  if (isStale && switches.staleModified === "refuse")
    throw new HttpError(409, "409-100", "The object has changed since it was read.");
};

/** The body in the form to store, and what remains of the object before it. */
const checkedBody = (
  service: EmulatedService,
  definition: Definition,
  given: JsonObject,
  before?: StoredObject,
) => {
  // Only a PUT may carry the time of the last change.
  const { modified, ...rest } = given;
  const body = before ? rest : given;
  const kept = before ? keptMembers(service.switches, definition, body, before) : {};
  const checked = { ...validate(definition, body, service.switches), ...kept };
  assertUnique(service, definition, checked, before?.id);
  assertReferences(service, definition, checked);
  if (before) assertFresh(service, before, modified);
  return checked;
};

/**
 * The members that a PUT leaves in place by switch: those that it neither names nor contradicts.
 */
const keptMembers = (
  switches: Switches,
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

/** Query parameters of a sibling service (vendor): the minimum, maximum, and default of each. */
const pageParameters = { $pagenum: [1, 999, 1], $pagesize: [1, 75, 25] } as const;

const pageParameter = (query: URLSearchParams, name: keyof typeof pageParameters): number => {
  const [text, ...more] = query.getAll(name);
  const [min, max, usual] = pageParameters[name];
  if (text === undefined) return usual;
  const number = /^\d{1,4}$/.test(text) && more.length === 0 ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new HttpError(400, "400-196", `${name} must be a whole number from ${min} to ${max}.`, [
    { key: name, value: `must be ${min} to ${max}` },
  ]);
};

const assertQueryKnown = (query: URLSearchParams): void => {
  const unknown = [...query.keys()].find((name) => !Object.hasOwn(pageParameters, name));
  if (unknown === undefined) return;
  const name = unknown.slice(0, 60);
  throw new HttpError(400, "400-101", `The query parameter ${name} is not supported.`);
};

/** The part of a list that the query asks for. */
const pageOf = (objects: readonly StoredObject[], query: URLSearchParams, switches: Switches) => {
  if (switches.unknownQuery === "refuse") assertQueryKnown(query);
  const count = objects.length;
  if (switches.paging === "all") {
    return { items: objects, paginationInfo: { count, pagenum: 1, pagesize: Math.max(1, count) } };
  }
  const pagenum = pageParameter(query, "$pagenum");
  const pagesize = pageParameter(query, "$pagesize");
  const items = objects.slice((pagenum - 1) * pagesize, pagenum * pagesize);
  return { items, paginationInfo: { count, pagenum, pagesize } };
};

/** The five operations of a setup collection (specification §4.1). */
export const collectionOperations = (definition: Definition) => {
  const { collection, listKey } = definition;

  const create: OperationHandler = (service, { body }) => {
    const checked = checkedBody(service, definition, body());
    const id = randomUUID();
    const created = timestamp(service.clock.now());
    service.store.put(collection, { ...checked, id, created, modified: created });
    return { status: 201, body: { id } };
  };

  const list: OperationHandler = (service, { query, fault }) => {
    if (fault?.kind === "forbidden-list")
      throw new HttpError(403, "403-197", "You are not allowed to list this collection.");
    const { store, switches } = service;
    const isStale = fault?.kind === "stale-list";
    const objects = isStale ? store.allBefore(collection, fault.ms ?? 0) : store.all(collection);
    const { items, paginationInfo } = pageOf(objects, query, switches);
    const given = items.map((object) => responseObject(service, definition, object));
    return { status: 200, body: { paginationInfo, [listKey]: given } };
  };

  const get: OperationHandler = (service, { id }) => ({
    status: 200,
    body: responseObject(service, definition, find(service, definition, id)),
  });

  const update: OperationHandler = (service, { id, body }) => {
    // A missing object is reported before errors in the body.
    const before = find(service, definition, id);
    const checked = checkedBody(service, definition, body(), before);
    const modified = timestamp(service.clock.now());
    service.store.put(collection, { ...checked, id, created: before.created, modified });
    return { status: 204 };
  };

  const remove: OperationHandler = (service, { id }) => {
    find(service, definition, id);
    assertNotInUse(service, definition, id);
    service.store.remove(collection, id);
    return { status: 204 };
  };

  return { create, list, get, update, remove };
};
