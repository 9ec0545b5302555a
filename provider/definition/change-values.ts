import { isObject, type JsonObject, objectOf } from "../kernel/json.js";
import type { Field, Fields } from "./define.js";

/** What becomes of the value of a field; undefined for nothing. */
export type ChangeValue = (field: Field, value: unknown) => unknown;

/** The members of an object in a program's terms, changed; those that no field knows stay as they are. */
export const changeMembers = (
  fields: Fields,
  values: JsonObject,
  change: ChangeValue,
): JsonObject =>
  objectOf(
    Object.entries(values).map(([name, value]) => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      return [name, field ? change(field, value) : value];
    }),
  );

/**
 * A value in a program's terms with what is right inside it changed: members, items, entries. A value
 * of another shape than its field's stays as it is.
 */
export const changeInside = (field: Field, value: unknown, change: ChangeValue): unknown => {
  switch (field.type) {
    case "object":
      return isObject(value) ? changeMembers(field.fields, value, change) : value;
    case "list":
      return Array.isArray(value) ? value.map((item) => change(field.of, item)) : value;
    case "map":
      return isObject(value)
        ? objectOf(Object.entries(value).map(([key, of]) => [key, change(field.of, of)]))
        : value;
    default:
      return value;
  }
};
