import type { Definition, Field, Fields } from "../../provider/definition/define.js";
import { referencesOf } from "../../provider/definition/references.js";
import { wireName } from "../../provider/definition/wire/wire.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";

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

const holdsReferences = new Map<Definition, boolean>();

const mayRefer = (definition: Definition): boolean => {
  const known = holdsReferences.get(definition);
  if (known !== undefined) return known;
  const holds = referencesOf(definition).length > 0;
  holdsReferences.set(definition, holds);
  return holds;
};

/** Every reference in the JSON of an object. */
export const storedReferences = (
  definition: Definition,
  object: JsonObject,
): readonly StoredReference[] =>
  mayRefer(definition) ? referencesAmong(definition.fields, object, "") : [];
