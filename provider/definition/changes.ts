import { isObject, type JsonObject, memberOf, objectOf } from "../kernel/json.js";
import { unknownValue } from "../kernel/stand-ins.js";
import { abbreviated } from "../kernel/text.js";
import { type Field, type Fields, identityOf, type ListField, type MapField } from "./define.js";
import { changeInside, changeMembers, holdsSecret, itemPath, memberPath } from "./fields.js";
import {
  below,
  numberOf,
  pairs,
  plainText,
  sameContent,
  sameExtra,
  sameMeaning,
  sameValue,
} from "./meaning.js";

/** A change to the value of a member. */
export interface FieldChange {
  /** Path as a program would write it, such as `roles[custom_bot].callback`. */
  readonly path: string;
  /**
   * The current value as short JSON text; undefined if there is none. Secrets appear as `[secret]`.
   */
  readonly from?: string;
  /** The new value as short JSON text; undefined if the value is removed. */
  readonly to?: string;
}

/** Returns a change as one line, such as `active: true → false`. */
export const changeText = ({ path, from = "(not set)", to = "(not set)" }: FieldChange): string =>
  `${path}: ${from} → ${to}`;

const longest = 60;

const hidden = "[secret]";

const veiled = (field: Field, value: unknown): unknown =>
  field.secret ? hidden : changeInside(field, value, veiled);

/** In a preview, a value not known before the update is shown as Pulumi shows it. */
const shortJson = (value: unknown): string =>
  abbreviated(JSON.stringify(value).replaceAll(unknownValue, "[unknown]"), longest);

const shown = (field: Field, value: unknown): string =>
  field.secret ? hidden : shortJson(veiled(field, value));

/** Whether a value is neither undefined nor null. */
export const isThere = (value: unknown): boolean => value !== undefined && value !== null;

const change = (field: Field, path: string, from: unknown, to: unknown): FieldChange[] => [
  {
    path,
    ...(isThere(from) ? { from: shown(field, from) } : {}),
    ...(isThere(to) ? { to: shown(field, to) } : {}),
  },
];

const inItems = (
  field: ListField,
  path: string,
  from: readonly unknown[],
  to: readonly unknown[],
): FieldChange[] => {
  const places = pairs(field, to, from);
  const inner = to.flatMap((item, at) => {
    const place = places[at];
    return inField(
      field.of,
      itemPath(path, field, item, at),
      place === undefined ? undefined : from[place],
      item,
    );
  });
  const gone = from.flatMap((item, place) =>
    places.includes(place)
      ? []
      : change(field.of, itemPath(path, field, item, place), item, undefined),
  );
  const all = [...inner, ...gone];
  const isReordered = all.length === 0 && !sameMeaning(field, from, to);
  return isReordered ? change(field, path, from, to) : all;
};

const inEntries = (
  field: MapField,
  path: string,
  from: JsonObject,
  to: JsonObject,
): FieldChange[] => {
  const byKey = (entries: JsonObject) =>
    new Map(Object.entries(entries).map(([key, value]) => [plainText(key), value]));
  const [there, wanted] = [byKey(from), byKey(to)];
  return [...new Set([...wanted.keys(), ...there.keys()])].flatMap((key) => {
    const [before, after] = [there.get(key), wanted.get(key)];
    const here = memberPath(path, key);
    // An entry counts even if its value is empty.
    return isThere(before) && isThere(after)
      ? inField(field.of, here, before, after)
      : change(field.of, here, before, after);
  });
};

const inField = (field: Field, path: string, from: unknown, to: unknown): FieldChange[] => {
  if (field.secret) return sameContent(from, to) ? [] : change(field, path, from, to);
  if (!holdsSecret(field) && sameMeaning(field, from, to)) return [];
  if (field.type === "object" && isObject(from) && isObject(to)) {
    return inFields(field.fields, path, from, to);
  }
  if (field.type === "map" && isObject(from) && isObject(to)) {
    return inEntries(field, path, from, to);
  }
  if (
    field.type === "list" &&
    identityOf(field).length > 0 &&
    Array.isArray(from) &&
    Array.isArray(to)
  ) {
    return inItems(field, path, from, to);
  }
  return sameValue(field, from, to) ? [] : change(field, path, from, to);
};

const inFields = (fields: Fields, path: string, from: JsonObject, to: JsonObject): FieldChange[] =>
  Object.entries(fields).flatMap(([name, field]) => {
    const wanted = memberOf(to, name);
    if (!isThere(wanted)) return [];
    return inField(field, memberPath(path, name), memberOf(from, name), wanted);
  });

/**
 * Returns the changes from one object to another, in field order. Includes a member only if `to`
 * declares it and its meaning differs. A secret counts as changed unless the service shows the same
 * value.
 *
 * @param from The live object as `fieldsFromWire` reads it.
 * @param to The inputs of a program.
 */
export const changesOf = (
  fields: Fields,
  from: JsonObject,
  to: JsonObject,
): readonly FieldChange[] => inFields(fields, "", from, to);

/**
 * Returns the changes that `extra` makes to a live object, with paths that start with `extra`. No
 * definition covers these members, so every value appears as `[secret]`.
 *
 * @param secretPaths paths of secrets in `extra`; their inner members are hidden, too
 */
export const extraChanges = (
  live: unknown,
  extra: JsonObject,
  secretPaths: readonly string[] = [],
): readonly FieldChange[] => {
  const inMember = (there: unknown, value: unknown, path: string, place: string): FieldChange[] => {
    if (value === undefined) return [];
    const isSecret = secretPaths.includes("") || secretPaths.includes(place);
    if (!isSecret && isObject(value) && isObject(there)) return inObject(there, value, path, place);
    if (!isSecret && sameExtra(there, value)) return [];
    return [{ path, ...(isThere(there) ? { from: hidden } : {}), to: hidden }];
  };
  const inObject = (
    there: unknown,
    value: JsonObject,
    path: string,
    place: string,
  ): FieldChange[] =>
    Object.entries(value).flatMap(([name, of]) =>
      inMember(
        isObject(there) ? memberOf(there, name) : undefined,
        of,
        memberPath(path, name),
        below(place, name),
      ),
    );
  return inObject(live, extra, "extra", "");
};

const typedValue = (field: Field, live: unknown): unknown => {
  switch (field.type) {
    case "text":
    case "reference":
      return typeof live === "number" || typeof live === "boolean" ? String(live) : live;
    case "number":
      return numberOf(live) ?? live;
    case "flag":
      return live === "true" ? true : live === "false" ? false : live;
    default:
      return changeInside(field, live, typedValue);
  }
};

/**
 * Returns a complete live object with its values converted to the types that a program uses,
 * because the service may write numbers and flags as text, or the reverse.
 */
export const typedFields = (fields: Fields, live: JsonObject): JsonObject =>
  changeMembers(fields, live, typedValue);

/**
 * Items in the service's order if the order matters, otherwise those known before come first, in
 * their order.
 */
const managedList = (
  field: ListField,
  live: readonly unknown[],
  prior: readonly unknown[],
): readonly unknown[] => {
  const places = pairs(field, prior, live).flatMap((place, at) =>
    place === undefined ? [] : [[place, prior[at]] as const],
  );
  const known = new Map(places);
  const now = live.map((item, place) =>
    known.has(place) ? managedValue(field.of, item, known.get(place)) : typedValue(field.of, item),
  );
  return field.unordered
    ? [...places.map(([place]) => now[place]), ...now.filter((_, place) => !known.has(place))]
    : now;
};

const managedMap = (field: MapField, live: JsonObject, prior: JsonObject): JsonObject => {
  const there = new Map(Object.entries(live).map(([key, of]) => [plainText(key), { key, of }]));
  const kept = Object.entries(prior).flatMap(([key, known]) => {
    const entry = there.get(plainText(key));
    there.delete(plainText(key));
    return entry ? [[key, managedValue(field.of, entry.of, known)] as const] : [];
  });
  const added = [...there.values()].map(({ key, of }) => [key, typedValue(field.of, of)] as const);
  return objectOf([...kept, ...added]);
};

const managedValue = (field: Field, live: unknown, prior: unknown): unknown => {
  if (sameMeaning(field, live, prior)) return prior;
  if (live === undefined || live === null) return undefined;
  if (field.type === "object" && isObject(live) && isObject(prior)) {
    return managedFields(field.fields, live, prior);
  }
  if (field.type === "list" && Array.isArray(live) && Array.isArray(prior)) {
    return managedList(field, live, prior);
  }
  if (field.type === "map" && isObject(live) && isObject(prior)) {
    return managedMap(field, live, prior);
  }
  return typedValue(field, live);
};

/**
 * Returns the part of a live object that a program manages: the members that the program declared,
 * with the service's current values. A value with the same meaning keeps its prior form, and so
 * does every secret, because a service may mask, omit, or echo it. Undeclared members are not
 * included.
 */
export const managedFields = (fields: Fields, live: JsonObject, prior: JsonObject): JsonObject =>
  objectOf(
    Object.entries(fields)
      .filter(([name]) => memberOf(prior, name) !== undefined)
      .map(([name, field]) => [
        name,
        managedValue(field, memberOf(live, name), memberOf(prior, name)),
      ]),
  );
