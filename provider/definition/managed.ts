import type { Field, Fields, ListField } from "./field.js";
import { isObject, type JsonObject, objectOf } from "./json.js";
import { holdsSecret } from "./merge.js";
import { pairs } from "./pairs.js";
import { sameValue } from "./same.js";

/** Live items in the order of the prior ones, so that a service that sorts shows no drift. */
const managedList = (
  field: ListField,
  live: readonly unknown[],
  prior: readonly unknown[],
): unknown => {
  if (field.unordered && sameValue(field, live, prior)) return prior;
  const paired = pairs(field, prior, live).filter(([, item]) => item !== undefined);
  const rest = live.filter((item) => !paired.some(([, known]) => known === item));
  return [...paired.map(([known, item]) => managedValue(field.of, item, known)), ...rest];
};

const managedMap = (of: Field, live: JsonObject, prior: JsonObject): JsonObject => {
  const inOrder = [
    ...Object.keys(prior).filter((key) => Object.hasOwn(live, key)),
    ...Object.keys(live).filter((key) => !Object.hasOwn(prior, key)),
  ];
  return objectOf(
    inOrder.map((key) => [
      key,
      Object.hasOwn(prior, key) ? managedValue(of, live[key], prior[key]) : live[key],
    ]),
  );
};

/** A service that leaves secrets out may leave out what holds them, too. */
const isWithheld = (field: Field): boolean =>
  (field.type === "map" || field.type === "object") && holdsSecret(field);

const managedValue = (field: Field, live: unknown, prior: unknown): unknown => {
  if (field.secret) return prior;
  if (live === undefined) return isWithheld(field) ? prior : undefined;
  if (field.type === "text" && sameValue(field, live, prior)) return prior;
  if (field.type === "object" && isObject(live) && isObject(prior)) {
    return managedFields(field.fields, live, prior);
  }
  if (field.type === "list" && Array.isArray(live) && Array.isArray(prior)) {
    return managedList(field, live, prior);
  }
  if (field.type === "map" && isObject(live) && isObject(prior)) {
    return managedMap(field.of, live, prior);
  }
  return live;
};

/**
 * The part of a live object that a program manages: the members it declared, with what the service
 * holds now. A secret keeps its prior value, as a service may mask, omit or echo it; members that
 * were never declared are the service's own affair.
 */
export const managedFields = (fields: Fields, live: JsonObject, prior: JsonObject): JsonObject =>
  objectOf(
    Object.entries(fields)
      .filter(([name]) => prior[name] !== undefined)
      .map(([name, field]) => [name, managedValue(field, live[name], prior[name])]),
  );
