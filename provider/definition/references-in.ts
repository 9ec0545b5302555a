import { isObject, type JsonObject } from "../kernel/json.js";
import type { Definition } from "./define.js";
import type { Field, Fields } from "./field.js";

/** A reference that a value in a program's terms holds. */
export interface ReferenceIn {
  /** As a person would write it, such as `roles[0].authentication`. */
  readonly path: string;
  readonly to: Definition;
  readonly id: unknown;
}

const inside = (field: Field, value: unknown, path: string): readonly ReferenceIn[] => {
  switch (field.type) {
    case "reference":
      return [{ path, to: field.to, id: value }];
    case "object":
      return isObject(value) ? referencesIn(field.fields, value, `${path}.`) : [];
    case "list":
      return Array.isArray(value)
        ? value.flatMap((item, place) => inside(field.of, item, `${path}[${place}]`))
        : [];
    case "map":
      return isObject(value)
        ? Object.entries(value).flatMap(([key, of]) => inside(field.of, of, `${path}.${key}`))
        : [];
    default:
      return [];
  }
};

/** Every reference in the values of an object. */
export const referencesIn = (
  fields: Fields,
  values: JsonObject,
  prefix = "",
): readonly ReferenceIn[] =>
  Object.entries(fields).flatMap(([name, field]) => inside(field, values[name], prefix + name));
