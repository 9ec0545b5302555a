import type { Definition, Field, Fields } from "../../../provider/definition/define.js";
import { itemPath, memberPath, membersOf, wireName } from "../../../provider/definition/fields.js";
import { fieldsFromWire, writtenOver } from "../../../provider/definition/wire.js";
import { isObject, type JsonObject, objectOf } from "../../../provider/kernel/json.js";
import { vendor } from "./own-forms.js";

/** A value and all it holds, so that every change to it throws. */
export const frozen = <T>(value: T): T => {
  if (typeof value === "object" && value !== null) {
    Object.values(value).forEach(frozen);
    Object.freeze(value);
  }
  return value;
};

/** The PUT over an object, all in the service's JSON; no side can be changed by it. */
export const written = (
  definition: Definition,
  live: JsonObject,
  desired: JsonObject,
  prior: JsonObject = {},
  keeps = false,
) => {
  const read = (wire: JsonObject) => frozen(fieldsFromWire(definition.fields, wire, vendor));
  const settings = { ...vendor, ...(keeps ? { put: "keep" as const } : {}) };
  const sides = { live: frozen(live), desired: read(desired), prior: read(prior) };
  const { fields: _, ...put } = writtenOver(definition, settings, sides);
  return put;
};

const marked = (value: JsonObject, mark: string): JsonObject => ({
  ...value,
  "x-kept": { by: mark, list: [mark] },
});

/** The JSON of a field with a member of its own, told apart by its path, in every object of it. */
export const withUnknown = (field: Field, wire: unknown, path: string): unknown => {
  switch (field.type) {
    case "object":
      return isObject(wire) ? fieldsWithUnknown(field.fields, wire, path) : wire;
    case "list": {
      const items = field.envelope && isObject(wire) ? wire[field.envelope] : wire;
      const marks = Array.isArray(items)
        ? items.map((item) => withUnknown(field.of, item, `${path}[${JSON.stringify(item)}]`))
        : items;
      return field.envelope ? marked({ [field.envelope]: marks }, path) : marks;
    }
    case "map": {
      const { key, value } = membersOf(field);
      return Array.isArray(wire)
        ? wire.map((entry) => {
            const inner = `${path}.${entry[key]}`;
            return marked({ ...entry, [value]: withUnknown(field.of, entry[value], inner) }, inner);
          })
        : wire;
    }
    default:
      return isObject(wire) ? marked(wire, path) : wire;
  }
};

/** The JSON of an object with a member of its own in every object of it. */
export const fieldsWithUnknown = (fields: Fields, wire: JsonObject, path = ""): JsonObject =>
  marked(
    objectOf(
      Object.entries(fields).map(([name, field]) => {
        const member = wire[wireName(name, field)];
        return [
          wireName(name, field),
          member === undefined ? undefined : withUnknown(field, member, `${path}.${name}`),
        ];
      }),
    ),
    path,
  );

export const secretPaths = (field: Field, value: unknown, path: string): string[] => {
  if (field.secret) return [path];
  if (field.type === "object" && isObject(value)) {
    return Object.entries(field.fields).flatMap(([name, of]) =>
      value[name] === undefined ? [] : secretPaths(of, value[name], memberPath(path, name)),
    );
  }
  if (field.type === "map" && isObject(value)) {
    return Object.entries(value).flatMap(([name, of]) =>
      secretPaths(field.of, of, memberPath(path, name)),
    );
  }
  if (field.type === "list" && Array.isArray(value)) {
    return value.flatMap((item, place) =>
      secretPaths(field.of, item, itemPath(path, field, item, place)),
    );
  }
  return [];
};
