import { isObject, type JsonObject, memberOf, objectOf } from "../kernel/json.js";
import { holdsUnknown } from "../kernel/stand-ins.js";
import {
  type Definition,
  type Field,
  type Fields,
  identityOf,
  type ListField,
  type MapField,
} from "./define.js";
import { keyOf, membersOf, unwrapped } from "./wire.js";

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

/** The path of a member of an object or a map, as a program would write it. */
export const memberPath = (path: string, name: string): string => {
  if (!/^[A-Za-z_$][\w$]*$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path ? `${path}.${name}` : name;
};

/** The neutral word where a vendor's own stands, such as `platform_bot`. */
const neutralWord = (field: Field | undefined, value: string): string => {
  const words = field?.type === "text" ? (field.values ?? []) : [];
  const isVendors = (word: string) =>
    word.startsWith("platform_") && value.endsWith(word.slice("platform".length));
  return words.includes(value) ? value : (words.find(isVendors) ?? value);
};

const identityText = (field: ListField, item: unknown): string | undefined => {
  const { of } = field;
  const values = identityOf(field).map((name) => {
    const value = isObject(item) ? memberOf(item, name) : undefined;
    const member = of.type === "object" ? of.fields[name] : undefined;
    const isShown = typeof value === "string" || typeof value === "number";
    return isShown && !holdsUnknown(value) ? neutralWord(member, String(value)) : undefined;
  });
  return values.length > 0 && !values.includes(undefined) ? values.join(", ") : undefined;
};

/**
 * The path of an item of a list, by its identity where the list has one that is known: `roles[custom_bot]`.
 *
 * @param item In a program's terms.
 */
export const itemPath = (path: string, field: ListField, item: unknown, place: number): string =>
  `${path}[${identityText(field, item) ?? place}]`;

const withSecrets = (field: Field, paths: readonly string[]): Field => {
  if (paths.length === 0 || field.secret) return field;
  // What is inside a list or a map has no path of its own.
  return field.type !== "object" || paths.includes("")
    ? { ...field, secret: true }
    : { ...field, fields: fieldsWithSecrets(field.fields, paths) };
};

/**
 * Fields as a program treats them: secret, too, is what it marks so.
 *
 * @param paths such as `callback` or `oauth.clientId`; the empty path is all of them
 */
export const fieldsWithSecrets = (fields: Fields, paths: readonly string[] = []): Fields => {
  if (paths.length === 0) return fields;
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const inside = paths.flatMap((path) => {
        if (path === "" || path === name) return [""];
        return path.startsWith(`${name}.`) ? [path.slice(name.length + 1)] : [];
      });
      return [name, withSecrets(field, inside)];
    }),
  );
};
