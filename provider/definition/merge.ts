import type { Field, Fields, ListField } from "./field.js";
import { isObject, type JsonObject, objectOf } from "./json.js";
import { pairs } from "./pairs.js";
import { wireName } from "./wire.js";

const mergeList = (field: ListField, live: unknown, desired: unknown, prior: unknown): unknown => {
  const listOf = (value: unknown): readonly unknown[] => {
    const items = field.boxed && isObject(value) ? value[field.boxed] : value;
    return Array.isArray(items) ? items : [];
  };
  const items = listOf(desired);
  const known = pairs(field, items, listOf(prior), wireName);
  const merged = pairs(field, items, listOf(live), wireName).map(([item, there], place) =>
    there === undefined ? item : mergeValue(field.of, there, item, known[place]?.[1]),
  );
  return field.boxed ? { ...(isObject(live) ? live : {}), [field.boxed]: merged } : merged;
};

const mergeValue = (field: Field, live: unknown, desired: unknown, prior: unknown): unknown => {
  if (field.type === "object" && isObject(live) && isObject(desired)) {
    return mergeFields(field.fields, live, desired, isObject(prior) ? prior : {});
  }
  return field.type === "list" ? mergeList(field, live, desired, prior) : desired;
};

/**
 * The body of a PUT: the live object with what the program wants.
 *
 * - What no field knows is kept, at every depth.
 * - What the program declared before and does so no more is left out.
 * - What it never declared is kept, except secrets: a service may mask them, and a mask must not
 *   be written back.
 *
 * All arguments are the service's JSON; `prior` is what the program wanted last time.
 */
export const mergeFields = (
  fields: Fields,
  live: JsonObject,
  desired: JsonObject,
  prior: JsonObject,
): JsonObject => {
  const byWire = new Map(
    Object.entries(fields).map(([name, field]) => [wireName(name, field), field]),
  );
  const kept = Object.entries(live).filter(([name]) => {
    const field = byWire.get(name);
    return !field || (prior[name] === undefined && !holdsSecret(field));
  });
  const wanted = Object.entries(desired).map(([name, value]) => {
    const field = byWire.get(name);
    return [name, field ? mergeValue(field, live[name], value, prior[name]) : value] as const;
  });
  return objectOf([...kept, ...wanted]);
};

/** Whether a field is, or holds anywhere inside, a secret. */
export const holdsSecret = (field: Field): boolean => {
  if (field.secret) return true;
  if (field.type === "object") return Object.values(field.fields).some(holdsSecret);
  return (field.type === "list" || field.type === "map") && holdsSecret(field.of);
};
