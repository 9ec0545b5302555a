import { isBlank, isObject, type JsonObject, memberOf } from "../kernel/json.js";
import { undisclosed } from "../kernel/pulumi.js";
import {
  type Field,
  type Fields,
  identityOf,
  type ListField,
  type MapField,
  type ObjectField,
  type TextField,
} from "./define.js";
import { defaultIn, holdsSecret } from "./fields.js";

/**
 * Returns text in a normal form, with composed characters (NFC) and only line feeds as line breaks.
 */
export const plainText = (text: string): string =>
  /^[\t\n -~]*$/.test(text) ? text : text.normalize("NFC").replaceAll(/\r\n?/g, "\n");

const forms: Readonly<Record<NonNullable<TextField["format"]>, (text: string) => string>> = {
  // As a URL parser writes it.
  url: (text) => URL.parse(text)?.href ?? text,
  email: (text) => text.toLowerCase(),
  base64: (text) => text,
  time: (text) => text,
};

/** Whether two texts are the same in their normal form. */
const sameText = (a: unknown, b: unknown, form = (text: string): string => text): boolean =>
  a === b ||
  (typeof a === "string" && typeof b === "string" && form(plainText(a)) === form(plainText(b)));

/**
 * Returns, for each of `items`, the position of a match in `others` that no other item uses;
 * undefined if none is left. Tries the item's own position first.
 */
export const matching = (
  items: readonly unknown[],
  others: readonly unknown[],
  fits: (other: unknown, item: unknown) => boolean,
): readonly (number | undefined)[] => {
  const free = new Set(others.keys());
  return items.map((item, at) => {
    const place = [at, ...free].find((each) => free.has(each) && fits(others[each], item));
    if (place !== undefined) free.delete(place);
    return place;
  });
};

type Sameness = (field: Field, a: unknown, b: unknown) => boolean;

const isAbsent = (value: unknown): value is undefined | null =>
  value === undefined || value === null;

const listIn = (value: unknown): readonly unknown[] | undefined =>
  Array.isArray(value) ? value : isAbsent(value) ? [] : undefined;

const objectIn = (value: unknown): JsonObject | undefined =>
  isObject(value) ? value : isAbsent(value) ? {} : undefined;

const sameList = (field: ListField, same: Sameness, a: unknown, b: unknown): boolean => {
  const [left, right] = [listIn(a), listIn(b)];
  if (!left || !right || left.length !== right.length) return false;
  if (!field.unordered) return left.every((item, place) => same(field.of, item, right[place]));
  const places = matching(right, left, (other, item) => same(field.of, other, item));
  return places.every((place) => place !== undefined);
};

const sameMap = (field: MapField, same: Sameness, a: unknown, b: unknown): boolean => {
  const [left, right] = [objectIn(a), objectIn(b)].map(
    (value) =>
      value &&
      new Map(
        Object.entries(value)
          .filter(([, of]) => !isAbsent(of))
          .map(([key, of]) => [plainText(key), of]),
      ),
  );
  if (!left || !right || left.size !== right.size) return false;
  return [...left].every(([key, value]) => right.has(key) && same(field.of, value, right.get(key)));
};

/**
 * Whether two values in a program have the same meaning. Compares text exactly, and unordered lists
 * regardless of order. An empty object, map, or list equals an absent one. A secret that an import
 * did not read equals any given one.
 *
 * @param a the known value
 * @param b the given value
 */
export const sameValue = (field: Field, a: unknown, b: unknown): boolean => {
  if (a === b || (isAbsent(a) && isAbsent(b))) return true;
  if (field.secret && a === undisclosed) return !isAbsent(b);
  switch (field.type) {
    case "object": {
      const [left, right] = [objectIn(a), objectIn(b)];
      return left !== undefined && right !== undefined && sameFields(field.fields, left, right);
    }
    case "list":
      return sameList(field, sameValue, a, b);
    case "map":
      return sameMap(field, sameValue, a, b);
    default:
      return false;
  }
};

/**
 * Whether two objects in a program have the same meaning in every field; ignores members without a
 * field.
 */
export const sameFields = (fields: Fields, a: JsonObject, b: JsonObject): boolean =>
  Object.entries(fields).every(([name, field]) =>
    sameValue(field, memberOf(a, name), memberOf(b, name)),
  );

/** The value, its default if it is absent, and undefined if an optional one is empty. */
const given = (field: Field, value: unknown): unknown => {
  if (isAbsent(value)) return defaultIn(field);
  const counts = field.type === "object" || (field.type === "text" && field.required);
  return isBlank(value) && !counts ? undefined : value;
};

const sameObject = (field: ObjectField, live: unknown, prior: unknown): boolean => {
  const there = isBlank(live) ? {} : objectIn(live);
  if (there === undefined || !(isAbsent(prior) || isObject(prior))) return false;
  return isObject(prior)
    ? sameFieldsMeaning(field.fields, there, prior)
    : Object.entries(field.fields).every(([name, of]) =>
        sameMeaning(of, memberOf(there, name), undefined),
      );
};

/** A value that contains secrets, which a service that omits secrets omits, too. */
const isWithheld = (field: Field, live: unknown): boolean =>
  isAbsent(live) && (field.type === "map" || field.type === "object") && holdsSecret(field);

/**
 * Whether the service's value has the same meaning as the known one. The form may differ: text may
 * be spelled differently, and an empty value may be absent. Unordered lists may differ in order,
 * and objects may have additional members.
 *
 * A secret always has the same meaning, because a service may mask or omit it.
 *
 * @param live As `fromWire` reads it.
 * @param prior In a program's terms. Members of objects that are absent here are not compared.
 */
export const sameMeaning = (field: Field, live: unknown, prior: unknown): boolean => {
  if (field.secret || live === prior || isWithheld(field, live)) return true;
  const [a, b] = [given(field, live), given(field, prior)];
  if (field.type === "object") return sameObject(field, a, b);
  if (a === b) return true;
  switch (field.type) {
    case "text":
      return sameText(a, b, field.format && forms[field.format]);
    case "list":
      return sameList(field, sameMeaning, a, b);
    case "map":
      return sameMap(field, sameMeaning, a, b);
    default:
      return false;
  }
};

/**
 * Whether a live object has the same meaning as the known one, in every known member; see {@link
 * sameMeaning}. Members that only the live object has are not compared.
 */
export const sameFieldsMeaning = (fields: Fields, live: JsonObject, prior: JsonObject): boolean =>
  Object.entries(fields).every(([name, field]) => {
    const known = memberOf(prior, name);
    return isAbsent(known) || sameMeaning(field, memberOf(live, name), known);
  });

/** Whether two items have the same identity; undefined if the list names none. */
const haveSameIdentity = (field: ListField, a: unknown, b: unknown): boolean | undefined => {
  const { of } = field;
  const identity = identityOf(field);
  if (of.type !== "object" || identity.length === 0) return undefined;
  return identity.every((name) => {
    const member = of.fields[name];
    const [left, right] = [a, b].map((item) => (isObject(item) ? memberOf(item, name) : undefined));
    return member !== undefined && left !== undefined && sameMeaning(member, left, right);
  });
};

/**
 * Returns, for each item, the position of the corresponding item in another list; undefined if
 * there is none: by the members that the list defines as their identity or, if there are none, by
 * meaning.
 *
 * @param items in a program's terms, like all items here
 * @param others the service's list, or another list to compare with
 */
export const pairs = (
  field: ListField,
  items: readonly unknown[],
  others: readonly unknown[],
): readonly (number | undefined)[] =>
  matching(
    items,
    others,
    (other, item) => haveSameIdentity(field, other, item) ?? sameMeaning(field.of, other, item),
  );
