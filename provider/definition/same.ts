import { isDeepStrictEqual } from "node:util";
import type { Field, Fields } from "./field.js";
import { isObject, type JsonObject } from "./json.js";

const parsed = (value: unknown): unknown => {
  try {
    return typeof value === "string" ? JSON.parse(value) : value;
  } catch {
    return value;
  }
};

const inOrder = (items: readonly unknown[]): unknown[] =>
  items.map((item) => JSON.stringify(item)).sort();

/** Whether two values mean the same: JSON text by its content, unordered lists by their items. */
export const sameValue = (field: Field, a: unknown, b: unknown): boolean => {
  if (isDeepStrictEqual(a, b)) return true;
  if (field.type === "text" && field.json) return isDeepStrictEqual(parsed(a), parsed(b));
  if (field.type === "object" && isObject(a) && isObject(b)) return sameFields(field.fields, a, b);
  if (field.type === "list" && Array.isArray(a) && Array.isArray(b)) {
    return field.unordered
      ? isDeepStrictEqual(inOrder(a), inOrder(b))
      : a.length === b.length && a.every((item, place) => sameValue(field.of, item, b[place]));
  }
  return false;
};

/** Whether two objects mean the same in every field; members without a field do not count. */
export const sameFields = (fields: Fields, a: JsonObject, b: JsonObject): boolean =>
  Object.entries(fields).every(([name, field]) => sameValue(field, a[name], b[name]));
