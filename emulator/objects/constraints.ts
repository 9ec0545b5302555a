import type { Definition, Field, Fields } from "../../provider/definition/define.js";
import { referencesTo } from "../../provider/definition/references.js";
import { wireName } from "../../provider/definition/wire/wire.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import type { Switches } from "../control/switches.js";
import { HttpError } from "../http/response.js";
import { invalidAttribute } from "../http/validation-errors.js";
import type { Store } from "./store.js";

/** What the rules between objects look at. */
interface Stored {
  readonly store: Store;
  readonly switches: Switches;
}

/** A reference that a stored object holds. */
export interface StoredReference {
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

/** Every reference in the JSON of an object. */
export const storedReferences = (
  { fields }: Definition,
  object: JsonObject,
): readonly StoredReference[] => referencesAmong(fields, object, "");

/**
 * No two objects of a kind share a unique name.
 *
 * @param own id of the object itself, if it is there already
 */
export const assertUnique = (
  { store, switches }: Stored,
  { collection }: Definition,
  object: JsonObject,
  own: string | undefined,
): void => {
  const taken = store.takenMember(collection, object, own);
  if (taken === undefined) return;
  const rule = "must be unique; it is taken";
  const status = switches.duplicateStatus;
  throw new HttpError(status, `${status}-152`, `${taken} ${rule}.`, [{ key: taken, value: rule }]);
};

/** What an object refers to is there. */
export const assertReferences = (
  { store, switches }: Stored,
  definition: Definition,
  object: JsonObject,
): void => {
  if (switches.unknownReference === "accept") return;
  for (const { to, id, path } of storedReferences(definition, object))
    if (!store.get(to.collection, id))
      throw invalidAttribute(path, `there is no ${to.noun} with this id`);
};

/** Kinds that can refer to each kind, from the references of all definitions. */
const usersOf = new Map(
  resources.map(
    (target) =>
      [target, [...new Set(referencesTo(target, resources).map(({ from }) => from))]] as const,
  ),
);

const isReferredTo = (store: Store, target: Definition, id: string): boolean =>
  (usersOf.get(target) ?? []).some((user) =>
    store
      .all(user.collection)
      .some((object) =>
        storedReferences(user, object).some(
          (reference) => reference.to === target && reference.id === id,
        ),
      ),
  );

/** By the letter of the rule: any object of the holding kinds holds every object of this one. */
const isHeld = (store: Store, target: Definition): boolean =>
  (target.heldByAny?.kinds ?? []).some((kind) => store.all(kind.collection).length > 0);

/**
 * The deletion rules of the specification's §2, and the references of orchestrations (assumed).
 *
 * @throws HttpError that names nobody, as the service's does
 */
export const assertNotInUse = ({ store, switches }: Stored, target: Definition, id: string) => {
  const byLetter =
    target.heldByAny !== undefined && switches.channelRule === "any-client-application";
  if (!(byLetter ? isHeld(store, target) : isReferredTo(store, target, id))) return;
  const status = switches.inUseStatus;
  throw new HttpError(
    status,
    `${status}-113`,
    `The ${target.noun} is in use and cannot be deleted.`,
  );
};
