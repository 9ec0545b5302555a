// The kernel: the base of the provider, the runtime client, the emulator and the commands, which
// depends on none of them. Only `parseJson` reads JSON from elsewhere; the kernel also contains the
// one error class, ids, text for messages, own files, Pulumi's forms of values, the clock and the
// package. The emulator deliberately keeps its own rates: a second opinion.

/** A JSON object whose members are not known yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Returns an object with these members in order, without undefined values; safe for keys such as
 * `__proto__`.
 */
export const objectOf = (entries: Iterable<readonly [string, unknown]>): JsonObject =>
  Object.fromEntries([...entries].filter(([, value]) => value !== undefined));

/** Returns a member of the object itself, never of its prototype. */
export const memberOf = (object: JsonObject, name: string): unknown =>
  Object.hasOwn(object, name) ? object[name] : undefined;

/** Whether a value names a member of this table. */
export const isKeyOf = <T extends object>(table: T, name: unknown): name is keyof T =>
  typeof name === "string" && Object.hasOwn(table, name);

/** Returns a string unchanged; the empty string for anything else. */
export const asText = (value: unknown): string => (typeof value === "string" ? value : "");

/** Returns a nonempty string unchanged; undefined for anything else. */
export const filledText = (value: unknown): string | undefined => asText(value) || undefined;

/** Returns the strings in a list; undefined if there are none. */
export const filledTexts = (value: unknown): readonly string[] | undefined => {
  const texts = Array.isArray(value)
    ? value.filter((item): item is string => typeof item === "string")
    : [];
  return texts.length > 0 ? texts : undefined;
};

export const listedObjects = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

/**
 * Whether a value is an empty string, list, or object, all of which services use for absent values.
 */
export const isBlank = (value: unknown): boolean =>
  value === "" ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0);

/** Whether two JSON values are equal. Compares numbers by value and members in any order. */
export const sameJson = (a: unknown, b: unknown): boolean => {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, place) => sameJson(item, b[place]));
  }
  if (!isObject(a) || !isObject(b)) return a === b;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && sameJson(a[name], b[name]))
  );
};

/** A path into a JSON value: names of members, and places in lists. */
type Steps = readonly (string | number)[];

/** Returns the value at a path; undefined if it is missing. */
export const valueAt = (value: unknown, ...path: Steps): unknown =>
  path.reduce<unknown>((inner, step) => {
    if (typeof step === "number") return Array.isArray(inner) ? inner[step] : undefined;
    return isObject(inner) ? memberOf(inner, step) : undefined;
  }, value);

/** Returns the nonempty string at a path; undefined if there is none. */
export const textAt = (value: unknown, ...path: Steps): string | undefined =>
  filledText(valueAt(value, ...path));

/** Returns the list at a path; an empty one if there is none. */
export const listAt = (value: unknown, ...path: Steps): readonly unknown[] => {
  const found = valueAt(value, ...path);
  return Array.isArray(found) ? found : [];
};

/**
 * Returns the objects in a list, even if the list is wrapped as `{ [wrapper]: [ … ] }`; empty if
 * there is no list.
 */
export const objectsIn = (value: unknown, wrapper: string): readonly JsonObject[] =>
  listedObjects(isObject(value) ? memberOf(value, wrapper) : value);

/** Returns every text inside a JSON value. */
export const textsInside = (value: unknown): readonly string[] => {
  if (typeof value === "string") return [value];
  return isObject(value) || Array.isArray(value) ? Object.values(value).flatMap(textsInside) : [];
};

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/**
 * Returns an object without its undefined members, for types that distinguish undefined from
 * absent.
 */
export const withoutUndefined = <const T extends object>(members: T): Defined<T> =>
  objectOf(Object.entries(members)) as Defined<T>;

/** No object of the service is nearly this deep; much deeper ones would overflow any recursion. */
export const mostLevels = 128;

/**
 * Parses JSON text, with or without a byte order mark (RFC 8259 §8.1). Removes every `__proto__`
 * member, because it would change the prototype of any object that it is merged into. Replaces
 * unpaired surrogates, which JSON can express (`"\ud83d"`) but UTF-8 cannot represent, with
 * `\ufffd`, even in keys. Throws a SyntaxError if the JSON is invalid, or nested more than 128
 * levels deep.
 */
export const parseJson = (given: string): unknown => {
  const text = given.startsWith("\ufeff") ? given.slice(1) : given;
  if (isDeep(text)) throw new SyntaxError(`more than ${mostLevels} levels`);
  // The cheap check first: a reviver makes parsing several times slower. `\u` may spell the name
  // too.
  const suspicious = text.includes("__proto__") || text.includes("\\u");
  if (!suspicious) return JSON.parse(text);
  const value: unknown = JSON.parse(text, (key, member: unknown) =>
    key === "__proto__" ? undefined : member,
  );
  return /\\u[dD][89a-fA-F]/.test(text) ? wellFormed(value) : value;
};

const wellFormed = (value: unknown): unknown => {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([key, member]) => [
    key.toWellFormed(),
    wellFormed(member),
  ]);
  return Object.fromEntries(members);
};

/** Parses JSON text; undefined if it is not JSON. For values that are only inspected. */
export const jsonIn = (text: string): unknown => {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
};

/** The end of the text that begins with the quote at `from`. */
const endOfText = (text: string, from: number): number => {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === '"') return at;
  }
  return text.length;
};

/** Checks only the text, because the parser itself may not survive such depth. */
const isDeep = (text: string): boolean => {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === '"') at = endOfText(text, at);
    else if (sign === "[" || sign === "{") depth += 1;
    else if (sign === "]" || sign === "}") depth -= 1;
    if (depth > mostLevels) return true;
  }
  return false;
};

/** A schema's type, read-only at every depth; describes what a command prints as JSON. */
export type Printed<T> = unknown extends T ? T : { readonly [Name in keyof T]: Printed<T[Name]> };
