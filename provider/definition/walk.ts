import { isObject, type JsonObject, memberOf } from "../kernel/json.js";
import type { Definition, Field, Fields, MapField } from "./define.js";
import { keyOf, membersOf, unwrapped } from "./wire/wire.js";

/** A field somewhere inside others. */
export interface FieldPath {
  readonly field: Field;
  /** As a person would write it; `[]` stands for the items of a list, `{}` for the values of a map. */
  readonly path: string;
}

const inside = (field: Field, path: string): FieldPath[] => {
  const own = { field, path };
  switch (field.type) {
    case "object":
      return [own, ...fieldsIn(field.fields, `${path}.`)];
    case "list":
      return [own, ...inside(field.of, `${path}[]`)];
    case "map":
      return [own, ...inside(field.of, `${path}{}`)];
    default:
      return [own];
  }
};

/** These fields and every field inside them, each before what it holds. */
export const fieldsIn = (fields: Fields, prefix = ""): readonly FieldPath[] =>
  Object.entries(fields).flatMap(([name, field]) => inside(field, prefix + name));

const holders = new WeakMap<Field, boolean>();

/** Whether a field is, or holds anywhere inside, a secret. */
export const holdsSecret = (field: Field): boolean => {
  const known = holders.get(field);
  if (known !== undefined) return known;
  const holds = inside(field, "").some((inner) => inner.field.secret === true);
  holders.set(field, holds);
  return holds;
};

/** A field, and a value that it has somewhere inside an object. */
export interface FieldValue extends FieldPath {
  readonly value: unknown;
}

/** The members of an object that a field knows, as a program names them or as they travel. */
export const membersIn = (fields: Fields, values: JsonObject): readonly FieldValue[] => {
  const own = new Map(Object.entries(values));
  return Object.entries(fields).flatMap(([path, field]) =>
    [...new Set([path, field.wire ?? path])].flatMap((key) => {
      const value = own.get(key);
      return value === undefined ? [] : [{ field, path, value }];
    }),
  );
};

const itemsIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const entriesIn = (field: MapField, value: unknown): readonly (readonly [string, unknown])[] =>
  isObject(value)
    ? Object.entries(value)
    : itemsIn(value)
        .filter(isObject)
        .map((entry) => [keyOf(field, entry) ?? "", memberOf(entry, membersOf(field).value)]);

const insideValue = (field: Field, value: unknown, path: string): FieldValue[] => {
  const own = { field, path, value };
  switch (field.type) {
    case "object":
      return isObject(value) ? [own, ...valuesIn(field.fields, value, `${path}.`)] : [own];
    case "list":
      return [
        own,
        ...itemsIn(unwrapped(field.envelope, value)).flatMap((item, place) =>
          insideValue(field.of, item, `${path}[${place}]`),
        ),
      ];
    case "map":
      return [
        own,
        ...entriesIn(field, value).flatMap(([key, of]) =>
          insideValue(field.of, of, `${path}.${key}`),
        ),
      ];
    default:
      return [own];
  }
};

/**
 * Every value inside an object, each before what it holds, with its path as a person would write it:
 * of values as a program gives them and of the service's JSON alike. What is absent is left out.
 */
export const valuesIn = (fields: Fields, values: JsonObject, prefix = ""): readonly FieldValue[] =>
  membersIn(fields, values).flatMap(({ field, path, value }) =>
    insideValue(field, value, prefix + path),
  );

/** A reference that a value in a program's terms holds. */
export interface ReferenceIn {
  /** As a person would write it, such as `roles[0].authentication`. */
  readonly path: string;
  readonly to: Definition;
  readonly id: unknown;
}

/** Every reference in the values of an object. */
export const referencesIn = (fields: Fields, values: JsonObject): readonly ReferenceIn[] =>
  valuesIn(fields, values).flatMap(({ field, path, value }) =>
    field.type === "reference" ? [{ path, to: field.to, id: value }] : [],
  );
