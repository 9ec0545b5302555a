import { randomUUID } from "node:crypto";
import type { Definition } from "../../provider/definition/define.js";
import { isObject, type JsonObject, objectOf } from "../../provider/kernel/json.js";
import { timestamp } from "../clock.js";
import type { Action } from "../http/endpoints.js";
import { page } from "../http/page.js";
import { type Answer, Refusal } from "../http/refusal.js";
import { assertNotInUse } from "./deletion.js";
import { fromOwnForms } from "./from-own-forms.js";
import { givenObject } from "./given-object.js";
import type { StoredObject } from "./store.js";
import { storedReferences } from "./stored-references.js";
import { validate } from "./validate.js";
import type { World } from "./world.js";

/** One call of a set-up operation that may be carried out. */
export interface CollectionCall {
  readonly definition: Definition;
  readonly id: string;
  readonly query: URLSearchParams;
  readonly body: JsonObject;
  /** For lists: as they were so many milliseconds ago. */
  readonly staleMs?: number;
}

type Operation = (world: World, call: CollectionCall) => Answer;

/** A date-time in ISO 8601, as `created` and `modified` are (public reference). */
const isTime = (value: unknown): value is string =>
  typeof value === "string" &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/i.test(value) &&
  !Number.isNaN(Date.parse(value));

const found = (world: World, { definition, id }: CollectionCall): StoredObject => {
  const object = world.store.get(definition.collection, id);
  if (!object) throw new Refusal(404, "404-101", `There is no ${definition.noun} with this id.`);
  return object;
};

const assertUnique = (
  world: World,
  definition: Definition,
  checked: JsonObject,
  own?: string,
): void => {
  const status = world.switches.duplicateStatus;
  const taken = world.store.takenMember(definition.collection, checked, own);
  if (taken === undefined) return;
  const rule = "must be unique; it is taken";
  throw new Refusal(status, `${status}-152`, `${taken} ${rule}.`, [{ key: taken, value: rule }]);
};

const assertReferences = (world: World, definition: Definition, checked: JsonObject): void => {
  if (world.switches.unknownReference === "accept") return;
  for (const { to, id, path } of storedReferences(definition, checked)) {
    if (world.store.get(to.collection, id)) continue;
    const rule = `there is no ${to.noun} with this id`;
    throw new Refusal(400, "400-152", `${path}: ${rule}.`, [{ key: path, value: rule }]);
  }
};

/** With the switch `staleModified` a PUT must carry the time of the last change, or none. */
const assertFresh = (world: World, object: StoredObject, modified: unknown): void => {
  if (world.switches.staleModified !== "refuse" || modified === undefined) return;
  if (!isTime(modified)) {
    const rule = "must be a date-time in ISO 8601";
    throw new Refusal(400, "400-152", `modified ${rule}.`, [{ key: "modified", value: rule }]);
  }
  if (Date.parse(modified) !== Date.parse(object.modified))
    throw new Refusal(409, "409-152", "The object was modified since.");
};

/** A body that may be stored, beside what stays of the object before it. */
const checkedBody = (
  world: World,
  { definition, body }: CollectionCall,
  own?: string,
  kept: JsonObject = {},
): JsonObject => {
  const plain = world.switches.forms === "own" ? fromOwnForms(definition, body) : body;
  const checked = { ...validate(definition, plain, world.switches), ...kept };
  assertUnique(world, definition, checked, own);
  assertReferences(world, definition, checked);
  return checked;
};

const create: Operation = (world, call) => {
  const now = timestamp(world.clock.now());
  const id = randomUUID();
  world.store.put(call.definition.collection, {
    ...checkedBody(world, call),
    id,
    created: now,
    modified: now,
  });
  return { status: 201, body: { id } };
};

const list: Operation = (world, call) => {
  const { collection, listKey } = call.definition;
  const { staleMs } = call;
  const objects =
    staleMs === undefined
      ? world.store.all(collection)
      : world.store.allBefore(collection, staleMs);
  const { items, paginationInfo } = page(objects, call.query, world.switches);
  return {
    status: 200,
    body: {
      paginationInfo,
      [listKey]: items.map((object) => givenObject(world, call.definition, object)),
    },
  };
};

const get: Operation = (world, call) => ({
  status: 200,
  body: givenObject(world, call.definition, found(world, call)),
});

/** What a PUT leaves in place by switch: the members that it neither names nor contradicts. */
const keptBy = (world: World, { definition, body }: CollectionCall, before: StoredObject) => {
  if (world.switches.put === "replace") return {};
  const { rule } = definition;
  const variants = rule && "exactlyOne" in rule ? Object.values(rule.exactlyOne) : [];
  return objectOf(
    Object.entries(before).filter(
      ([name]) => !variants.includes(name) && !Object.hasOwn(body, name),
    ),
  );
};

const update: Operation = (world, call) => {
  const before = found(world, call);
  const { id, created } = before;
  const checked = checkedBody(world, call, id, keptBy(world, call, before));
  assertFresh(world, before, call.body.modified);
  const modified = timestamp(world.clock.now());
  world.store.put(call.definition.collection, { ...checked, id, created, modified });
  return { status: 204 };
};

const remove: Operation = (world, call) => {
  const { id } = found(world, call);
  assertNotInUse(world, call.definition, id);
  world.store.remove(call.definition.collection, id);
  return { status: 204 };
};

/** The five operations of a set-up collection (specification §4.1). */
export const operations: Readonly<Record<Action, Operation>> = {
  create,
  list,
  get,
  update,
  delete: remove,
};

/** Whether something read back from a file or a snapshot is an object of a collection. */
export const isStoredObject = (value: unknown): value is StoredObject =>
  isObject(value) &&
  typeof value.id === "string" &&
  value.id.length > 0 &&
  value.id.length <= 255 &&
  isTime(value.created) &&
  isTime(value.modified);
