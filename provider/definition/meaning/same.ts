import { isBlank, isObject, type JsonObject, memberOf } from "../../kernel/json.js";
import { undisclosed } from "../../kernel/undisclosed.js";
import type { Field, Fields, ListField, MapField, ObjectField } from "../define.js";
import { holdsSecret } from "../walk.js";
import { matching } from "./matching.js";
import { isTidied, numberOf, plainText, sameContent, sameText } from "./text-forms.js";

type Sameness = (field: Field, a: unknown, b: unknown) => boolean;

const isAbsent = (value: unknown): value is undefined | null =>
  value === undefined || value === null;

const listIn = (value: unknown): readonly unknown[] | undefined =>
  Array.isArray(value) ? value : isAbsent(value) ? [] : undefined;

const objectIn = (value: unknown): JsonObject | undefined =>
  isObject(value) ? value : isAbsent(value) ? {} : undefined;

/** Every item has one of its own in the other list, which is as long. */
const sameItems = (of: Field, same: Sameness, a: readonly unknown[], b: readonly unknown[]) =>
  matching(b, a, (other, item) => same(of, other, item)).every((place) => place !== undefined);

const sameList = (field: ListField, same: Sameness, a: unknown, b: unknown): boolean => {
  const [left, right] = [listIn(a), listIn(b)];
  if (!left || !right || left.length !== right.length) return false;
  return field.unordered
    ? sameItems(field.of, same, left, right)
    : left.every((item, place) => same(field.of, item, right[place]));
};

const sameMap = (
  field: MapField,
  same: Sameness,
  a: unknown,
  b: unknown,
  keyForm: (key: string) => string,
): boolean => {
  const [left, right] = [objectIn(a), objectIn(b)].map(
    (value) =>
      value &&
      new Map(
        Object.entries(value)
          .filter(([, of]) => !isAbsent(of))
          .map(([key, of]) => [keyForm(key), of]),
      ),
  );
  if (!left || !right || left.size !== right.size) return false;
  return [...left].every(([key, value]) => right.has(key) && same(field.of, value, right.get(key)));
};

/**
 * Whether two values of a program say the same. Text counts letter by letter; JSON text by its
 * content, unordered lists by their items, and what is empty is as good as absent. A secret that an
 * import did not read is whatever is given.
 *
 * @param a what is known
 * @param b what is given
 */
export const sameValue = (field: Field, a: unknown, b: unknown): boolean => {
  if (a === b || (isAbsent(a) && isAbsent(b))) return true;
  if (field.secret && a === undisclosed) return !isAbsent(b);
  switch (field.type) {
    case "text":
      return field.json === true && sameContent(a, b);
    case "object": {
      const [left, right] = [objectIn(a), objectIn(b)];
      return left !== undefined && right !== undefined && sameFields(field.fields, left, right);
    }
    case "list":
      if (field.emptyCounts && isAbsent(a) !== isAbsent(b)) return false;
      return sameList(field, sameValue, a, b);
    case "map":
      return sameMap(field, sameValue, a, b, (key) => key);
    default:
      return false;
  }
};

/** Whether two objects of a program say the same in every field; members without a field do not count. */
export const sameFields = (fields: Fields, a: JsonObject, b: JsonObject): boolean =>
  Object.entries(fields).every(([name, field]) =>
    sameValue(field, memberOf(a, name), memberOf(b, name)),
  );

const flagOf = (value: unknown): unknown =>
  value === "true" ? true : value === "false" ? false : value;

/** The value, its default where it is absent, and undefined where an optional one is empty. */
const given = (field: Field, value: unknown): unknown => {
  if (isAbsent(value)) return "default" in field ? field.default : undefined;
  const counts =
    field.type === "object" ||
    (field.type === "text" && (field.required || (field.json && value !== "")));
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

/** What holds secrets, and a service that leaves secrets out leaves out, too. */
const isWithheld = (field: Field, live: unknown): boolean =>
  isAbsent(live) && (field.type === "map" || field.type === "object") && holdsSecret(field);

/**
 * Whether what the service answered means what is known already, whichever form it gave it: the
 * spelling of a text or an address, numbers and flags as text, nothing for what is empty, items of
 * an unordered list in its own order, and further members inside objects.
 *
 * A secret always means the same, as a service may mask or leave it out.
 *
 * @param live As `fromWire` reads it.
 * @param prior In a program's terms. Members of objects that are absent here are not compared.
 */
export const sameMeaning = (field: Field, live: unknown, prior: unknown): boolean => {
  if (field.secret || live === prior || isWithheld(field, live)) return true;
  const [a, b] = [given(field, live), given(field, prior)];
  if (field.type === "object") return sameObject(field, a, b);
  if (a === undefined && b === undefined) return true;
  switch (field.type) {
    case "text":
    case "reference":
      return a !== undefined && b !== undefined && (sameText(field, a, b) || isTidied(a, b));
    case "number":
      return numberOf(a) !== undefined && numberOf(a) === numberOf(b);
    case "flag":
      return flagOf(a) === flagOf(b);
    case "list":
      return sameList(field, sameMeaning, a, b);
    case "map":
      return sameMap(field, sameMeaning, a, b, plainText);
  }
};

/**
 * Whether a live object means what is known of it, in every member that is known; see
 * {@link sameMeaning}. Members that only the live object has are not compared.
 */
export const sameFieldsMeaning = (fields: Fields, live: JsonObject, prior: JsonObject): boolean =>
  Object.entries(fields).every(([name, field]) => {
    const known = memberOf(prior, name);
    return isAbsent(known) || sameMeaning(field, memberOf(live, name), known);
  });
