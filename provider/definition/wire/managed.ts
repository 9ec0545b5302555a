import { isObject, type JsonObject, memberOf, objectOf } from "../../kernel/json.js";
import { changeInside, changeMembers } from "../change-values.js";
import type { Field, Fields, ListField, MapField } from "../define.js";
import { sameMeaning } from "../meaning/same.js";
import { numberOf, plainText } from "../meaning/text-forms.js";
import { pairs } from "./pairs.js";

const typedValue = (field: Field, live: unknown): unknown => {
  switch (field.type) {
    case "text":
    case "reference":
      return typeof live === "number" || typeof live === "boolean" ? String(live) : live;
    case "number":
      return numberOf(live) ?? live;
    case "flag":
      return live === "true" ? true : live === "false" ? false : live;
    default:
      return changeInside(field, live, typedValue);
  }
};

/**
 * A whole live object with its values of the types that a program gives: numbers and flags that the
 * service wrote as text, or the other way round.
 */
export const typedFields = (fields: Fields, live: JsonObject): JsonObject =>
  changeMembers(fields, live, typedValue);

/** Items in the service's order where it counts, else those known before first, in their order. */
const managedList = (
  field: ListField,
  live: readonly unknown[],
  prior: readonly unknown[],
): readonly unknown[] => {
  const places = pairs(field, prior, live).flatMap((place, at) =>
    place === undefined ? [] : [[place, prior[at]] as const],
  );
  const known = new Map(places);
  const now = live.map((item, place) =>
    known.has(place) ? managedValue(field.of, item, known.get(place)) : typedValue(field.of, item),
  );
  return field.unordered
    ? [...places.map(([place]) => now[place]), ...now.filter((_, place) => !known.has(place))]
    : now;
};

const managedMap = (field: MapField, live: JsonObject, prior: JsonObject): JsonObject => {
  const there = new Map(Object.entries(live).map(([key, of]) => [plainText(key), { key, of }]));
  const kept = Object.entries(prior).flatMap(([key, known]) => {
    const entry = there.get(plainText(key));
    there.delete(plainText(key));
    return entry ? [[key, managedValue(field.of, entry.of, known)] as const] : [];
  });
  const added = [...there.values()].map(({ key, of }) => [key, typedValue(field.of, of)] as const);
  return objectOf([...kept, ...added]);
};

const managedValue = (field: Field, live: unknown, prior: unknown): unknown => {
  if (sameMeaning(field, live, prior)) return prior;
  if (live === undefined || live === null) return undefined;
  if (field.type === "object" && isObject(live) && isObject(prior)) {
    return managedFields(field.fields, live, prior);
  }
  if (field.type === "list" && Array.isArray(live) && Array.isArray(prior)) {
    return managedList(field, live, prior);
  }
  if (field.type === "map" && isObject(live) && isObject(prior)) {
    return managedMap(field, live, prior);
  }
  return typedValue(field, live);
};

/**
 * The part of a live object that a program manages: the members it declared, with what the service
 * holds now. What means the same keeps its prior value, secrets always do, as a service may mask,
 * omit or echo them; members that were never declared are the service's own affair.
 */
export const managedFields = (fields: Fields, live: JsonObject, prior: JsonObject): JsonObject =>
  objectOf(
    Object.entries(fields)
      .filter(([name]) => memberOf(prior, name) !== undefined)
      .map(([name, field]) => [
        name,
        managedValue(field, memberOf(live, name), memberOf(prior, name)),
      ]),
  );
