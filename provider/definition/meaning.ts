import {
  isBlank,
  isObject,
  type JsonObject,
  listAt,
  memberOf,
  objectOf,
  sameJson,
  valueAt,
} from "../kernel/json.js";
import { undisclosed } from "../kernel/stand-ins.js";
import {
  type Field,
  type Fields,
  identityOf,
  type ListField,
  type MapField,
  type ObjectField,
  type ReferenceField,
  type TextField,
} from "./define.js";
import { defaultIn, itemPath, memberPath } from "./fields.js";
import { holdsSecret } from "./secrets.js";

/**
 * Returns text in a normal form, with composed characters (NFC) and only line feeds as line breaks.
 */
const plainText = (text: string): string =>
  /^[\t\n -~]*$/.test(text) ? text : text.normalize("NFC").replaceAll(/\r\n?/g, "\n");

const samePlain = (a: string, b: string): boolean => plainText(a) === plainText(b);

/**
 * Percent-encoding in one form (RFC 3986 §6.2.2): unreserved characters plain, upper-case hex
 * digits.
 */
const percentForm = (part: string): string =>
  part
    .replaceAll(/[^\w.~:/?#[\]@!$&'()*+,;=%-]/gu, encodeURIComponent)
    .replaceAll(/%[0-9a-f]{2}/gi, (octet) => {
      const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16));
      return /[\w.~-]/.test(character) ? character : octet.toUpperCase();
    });

const isSlashed = (plain: string, other: string): boolean =>
  !plain.endsWith("/") && `${plain}/` === other;

const samePath = (a: string, b: string): boolean => a === b || isSlashed(a, b) || isSlashed(b, a);

/**
 * Whether addresses lead to the same place: compared in the form of a URL parser, ignoring one
 * trailing slash.
 */
const sameUrl = (a: string, b: string): boolean => {
  const [left, right] = [plainText(a), plainText(b)];
  if (!URL.canParse(left) || !URL.canParse(right)) return left === right;
  const [one, other] = [new URL(left), new URL(right)];
  const parts = ["protocol", "username", "password", "host", "search", "hash"] as const;
  return (
    samePath(percentForm(one.pathname), percentForm(other.pathname)) &&
    parts.every((part) => percentForm(one[part]) === percentForm(other[part]))
  );
};

const sameEmail = (a: string, b: string): boolean =>
  plainText(a).toLowerCase() === plainText(b).toLowerCase();

/** The bytes of base64 text in either alphabet, padded or not; undefined if it is not base64. */
const bytesOf = (text: string): Buffer | undefined => {
  const digits = text.replaceAll(/\s/g, "").replace(/={1,2}$/, "");
  const isBase64 = /^[A-Za-z0-9+/_-]*$/.test(digits) && digits.length % 4 !== 1;
  return isBase64 ? Buffer.from(digits, "base64") : undefined;
};

const sameBytes = (a: string, b: string): boolean => {
  const [left, right] = [bytesOf(a), bytesOf(b)];
  return left && right ? left.equals(right) : a === b;
};

const sameForm = { url: sameUrl, email: sameEmail, base64: sameBytes } as const;

/**
 * A number that is too long to be kept exactly, by its digits, so that different numbers differ.
 */
const exact = (_: string, value: unknown, context?: { readonly source?: string }): unknown => {
  const source = context?.source;
  return typeof value === "number" && source && source.length > 15 ? { number: source } : value;
};

/** The content of a text: parsed if it is JSON, otherwise the text itself. */
const contentOf = (value: unknown): unknown => {
  const text = isObject(value) || Array.isArray(value) ? JSON.stringify(value) : value;
  try {
    return typeof text === "string" ? { content: JSON.parse(text, exact) } : { text };
  } catch {
    return { text };
  }
};

/** Whether two JSON strings, or a JSON string and an object or list, have the same content. */
export const sameContent = (a: unknown, b: unknown): boolean =>
  a === b || sameJson(contentOf(a), contentOf(b));

const jsonNumber = /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i;

/** Returns a value as a number if it is a number or JSON text for one; otherwise, undefined. */
export const numberOf = (value: unknown): number | undefined =>
  typeof value === "number"
    ? value
    : typeof value === "string" && jsonNumber.test(value)
      ? Number(value)
      : undefined;

/**
 * Whether two scalars are equal, even if only one of them is quoted in the JSON. Compares strings
 * in their normal form.
 */
const sameScalar = (a: unknown, b: unknown): boolean => {
  if (a === b) return true;
  if (typeof a === "string" && typeof b === "string") return samePlain(a, b);
  if (typeof a === "boolean") return String(a) === b;
  if (typeof b === "boolean") return a === String(b);
  const number = numberOf(a);
  return number !== undefined && number === numberOf(b);
};

/** Removes the spaces before line ends, and if requested before the end of the text. */
const withoutBlanks = (text: string, atEnd: boolean): string => {
  const parts = text.match(/[^\S\r\n]+|[\r\n]+|\S+/g) ?? [];
  const isLast = (next: string | undefined) => (next === undefined ? atEnd : /^[\r\n]/.test(next));
  return parts.filter((part, at) => !/^[^\S\r\n]/.test(part) || !isLast(parts[at + 1])).join("");
};

/** Text as services tidy it: without spaces at its ends, and at the ends of its lines. */
const tidyForms = (text: string): readonly string[] => {
  const plain = plainText(text);
  // With a lone CR the result depends on whether spaces are removed before or after line ends are
  // normalized; an owner mark may have followed the last line.
  const tidied = [plain, text].flatMap((lines) =>
    [true, false].map((atEnd) => plainText(withoutBlanks(lines, atEnd))),
  );
  return [plain, ...tidied].flatMap((form) => [form, form.trim(), form.trimEnd()]);
};

/** Most texts have no such spaces, and a name is compared with those of all other objects. */
const hasOuterBlanks = (text: string): boolean => /^\s|\s$/m.test(text);

/**
 * Whether a service returned a text without the spaces at its ends. A person's addition is not
 * that.
 */
const isTidied = (live: unknown, prior: unknown): boolean => {
  if (typeof live !== "string" || typeof prior !== "string" || live === "") return false;
  return hasOuterBlanks(prior)
    ? tidyForms(prior).includes(plainText(live))
    : samePlain(live, prior);
};

/** Whether two texts of a field, or two IDs, mean the same. */
const sameText = (field: TextField | ReferenceField, a: unknown, b: unknown): boolean => {
  if (field.type === "reference") return sameScalar(a, b);
  if (field.json) return sameContent(a, b);
  return field.format && typeof a === "string" && typeof b === "string"
    ? sameForm[field.format](a, b)
    : sameScalar(a, b);
};

/**
 * Returns, for each of `items`, the position of a match in `others` that no other item uses;
 * undefined if none is left. Tries the item's own position first. Matches as many items as possible:
 * an earlier item moves to another position if a later one has no other match (augmenting paths).
 */
export const matching = (
  items: readonly unknown[],
  others: readonly unknown[],
  fits: (other: unknown, item: unknown) => boolean,
): readonly (number | undefined)[] => {
  const found: (number | undefined)[] = items.map(() => undefined);
  const holders = new Map<number, number>();
  const findPlace = (at: number, tried: Set<number>): boolean => {
    const places = at < others.length ? [at, ...others.keys()] : [...others.keys()];
    return places.some((place) => {
      if (tried.has(place) || !fits(others[place], items[at])) return false;
      tried.add(place);
      const holder = holders.get(place);
      if (holder !== undefined && !findPlace(holder, tried)) return false;
      holders.set(place, at);
      found[at] = place;
      return true;
    });
  };
  for (const at of items.keys()) findPlace(at, new Set());
  return found;
};

type Sameness = (field: Field, a: unknown, b: unknown) => boolean;

const isAbsent = (value: unknown): value is undefined | null =>
  value === undefined || value === null;

const listIn = (value: unknown): readonly unknown[] | undefined =>
  Array.isArray(value) ? value : isAbsent(value) ? [] : undefined;

const objectIn = (value: unknown): JsonObject | undefined =>
  isObject(value) ? value : isAbsent(value) ? {} : undefined;

/** Whether every item has its own match in the other list, which has the same length. */
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
 * Whether two values in a program have the same meaning. Compares text exactly, JSON text by
 * content, and unordered lists regardless of order. An empty object, map, or list equals an absent
 * one. A secret that an import did not read equals any given one.
 *
 * @param a the known value
 * @param b the given value
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
      return sameList(field, sameValue, a, b);
    case "map":
      return sameMap(field, sameValue, a, b, (key) => key);
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

const flagOf = (value: unknown): unknown =>
  value === "true" ? true : value === "false" ? false : value;

/** The value, its default if it is absent, and undefined if an optional one is empty. */
const given = (field: Field, value: unknown): unknown => {
  if (isAbsent(value)) return defaultIn(field);
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

/** A value that contains secrets, which a service that omits secrets omits, too. */
const isWithheld = (field: Field, live: unknown): boolean =>
  isAbsent(live) && (field.type === "map" || field.type === "object") && holdsSecret(field);

/**
 * Whether the service's value has the same meaning as the known one. The form may differ: a string
 * or URL may be spelled differently, a number or flag may be a string, and an empty value may be
 * absent. Unordered lists may differ in order, and objects may have additional members.
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
 * Secrets distinguish items only here: without them, items that differ would be considered equal.
 */
const meansTheSame = ({ of }: ListField, a: unknown, b: unknown): boolean =>
  of.type === "object" && holdsSecret(of) ? sameValue(of, a, b) : sameMeaning(of, a, b);

/**
 * Returns, for each item, the position of the corresponding item in another list; undefined if
 * there is none. Items never match by position, but by the members that the list defines as their
 * identity or, if there are none, by meaning.
 *
 * @param items in a program's terms, like all items here
 * @param others the service's list, or another list to compare with
 */
export const pairs = (
  field: ListField,
  items: readonly unknown[],
  others: readonly unknown[],
): readonly (number | undefined)[] => {
  // If several share an identity, those that mean the same belong together.
  const alike = matching(
    items,
    others,
    (other, item) =>
      haveSameIdentity(field, other, item) !== false && meansTheSame(field, other, item),
  );
  const left = [...items.keys()].filter((at) => alike[at] === undefined);
  const free = [...others.keys()].filter((place) => !alike.includes(place));
  const identified = new Map(
    matching(
      left.map((at) => items[at]),
      free.map((place) => others[place]),
      (other, item) => haveSameIdentity(field, other, item) === true,
    ).map((place, at) => [left[at], place === undefined ? undefined : free[place]] as const),
  );
  return alike.map((place, at) => place ?? identified.get(at));
};

/** The same part of several values of a field: a member, an item, or an entry. */
export interface AlignedPart {
  readonly field: Field;
  readonly name: string;
  /** As a program would write it. */
  readonly path: string;
  /** Undefined where a value has no such part. */
  readonly values: readonly unknown[];
}

/** Returns each member that fields define, in every one of several objects. */
export const alignMembers = (
  fields: Fields,
  objects: readonly unknown[],
  path: string,
): readonly AlignedPart[] =>
  Object.entries(fields).map(([name, field]) => ({
    field,
    name,
    path: memberPath(path, name),
    values: objects.map((value) => valueAt(value, name)),
  }));

/**
 * Returns the parts of a value, each with the corresponding part of other values of the same field:
 * members by name, items as {@link pairs} matches them, entries by the normal form of their keys.
 *
 * @param values in a program's terms. The first one decides which items and entries there are
 * @returns undefined if the first value has no parts, or another shape than its field's
 */
export const alignParts = (
  field: Field,
  [first, ...others]: readonly unknown[],
  path: string,
): readonly AlignedPart[] | undefined => {
  if (field.type === "object")
    return isObject(first) ? alignMembers(field.fields, [first, ...others], path) : undefined;
  if (field.type === "list" && Array.isArray(first)) {
    const matches = others.map((other) => pairs(field, first, listAt(other)));
    return first.map((item: unknown, at) => {
      const partners = matches.map((places, side) => {
        const place = places[at];
        return place === undefined ? undefined : listAt(others[side])[place];
      });
      const here = itemPath(path, field, item, at);
      return { field: field.of, name: String(at), path: here, values: [item, ...partners] };
    });
  }
  if (field.type !== "map" || !isObject(first)) return undefined;
  const entries = others.map(
    (other) =>
      new Map(
        isObject(other) ? Object.entries(other).map(([key, of]) => [plainText(key), of]) : [],
      ),
  );
  return Object.entries(first).map(([name, value]) => {
    const partners = entries.map((entry) => entry.get(plainText(name)));
    return { field: field.of, name, path: memberPath(path, name), values: [value, ...partners] };
  });
};

/** Puts parts together again, in the shape of their field. Omits undefined ones. */
export const joinParts = (
  field: Pick<Field, "type">,
  parts: readonly (readonly [name: string, value: unknown])[],
): unknown =>
  field.type === "list"
    ? parts.map(([, value]) => value).filter((value) => value !== undefined)
    : objectOf(parts);
