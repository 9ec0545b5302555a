import type { Definition, Field, Fields } from "../../provider/definition/define.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";

/** A reference that a stored object holds. */
export interface StoredReference {
  readonly to: Definition;
  readonly id: string;
  readonly path: string;
}

const inside = (field: Field, value: unknown, path: string): StoredReference[] => {
  switch (field.type) {
    case "reference": {
      const id = field.plainId ? value : isObject(value) ? value.id : undefined;
      return typeof id === "string"
        ? [{ to: field.to, id, path: field.plainId ? path : `${path}.id` }]
        : [];
    }
    case "object":
      return isObject(value) ? among(field.fields, value, `${path}.`) : [];
    case "list": {
      const items = field.envelope && isObject(value) ? value[field.envelope] : value;
      return Array.isArray(items)
        ? items.flatMap((item, place) => inside(field.of, item, `${path}[${place}]`))
        : [];
    }
    default:
      return [];
  }
};

const among = (fields: Fields, values: JsonObject, prefix: string): StoredReference[] =>
  Object.entries(fields).flatMap(([name, field]) => {
    const wire = field.wire ?? name;
    return inside(field, values[wire], prefix + wire);
  });

/** Every reference in the JSON of an object. */
export const storedReferences = (
  definition: Definition,
  object: JsonObject,
): readonly StoredReference[] => among(definition.fields, object, "");
