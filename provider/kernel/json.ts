// The kernel: what the provider, the runtime client, the emulator and the commands all build on, and
// what needs none of them. JSON that comes from elsewhere is read in json-text.ts alone; beside them stand
// the one error class, ids and quoted texts, the clock, and the package's name, folder and version.
// The emulator keeps its own rules of senders, rates and content types on purpose: a second opinion.

/** A JSON object whose members are not known yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Members in order, those without a value left out; safe for keys such as `__proto__`. */
export const objectOf = (entries: Iterable<readonly [string, unknown]>): JsonObject =>
  Object.fromEntries([...entries].filter(([, value]) => value !== undefined));

/** Members that have a value. */
export const present = <T extends object>(
  values: {
    readonly [K in keyof T]: T[K] | undefined;
  },
): T => objectOf(Object.entries(values)) as T;

/** A member of the object itself, never of its prototype. */
export const memberOf = (object: JsonObject, name: string): unknown =>
  Object.hasOwn(object, name) ? object[name] : undefined;

/** A text as it is; anything else is the empty text. */
export const asText = (value: unknown): string => (typeof value === "string" ? value : "");

/** A text that is not empty; undefined for anything else. */
export const filledText = (value: unknown): string | undefined => asText(value) || undefined;

/** The texts in a list; undefined where there are none. */
export const filledTexts = (value: unknown): readonly string[] | undefined => {
  const texts = Array.isArray(value)
    ? value.filter((item): item is string => typeof item === "string")
    : [];
  return texts.length > 0 ? texts : undefined;
};

/** The objects in a list; none where it is no list. */
export const listedObjects = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

/** Nothing in it, in any of the forms that services give to what is not there. */
export const isBlank = (value: unknown): boolean =>
  value === "" ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0);

/** Whether two JSON values are the same: numbers by value, members in any order. */
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

/** The value at a path of members; undefined where it is missing. */
export const valueAt = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (inner, name) => (isObject(inner) ? memberOf(inner, name) : undefined),
    value,
  );

/** The text at a path of members; undefined where it is missing or empty. */
export const textAt = (value: unknown, ...path: readonly string[]): string | undefined =>
  filledText(valueAt(value, ...path));

/** The objects of a list, also where it is wrapped as `{ [wrapper]: [ … ] }`. */
export const objectsIn = (value: unknown, wrapper: string): readonly JsonObject[] =>
  listedObjects(isObject(value) ? memberOf(value, wrapper) : value);

/** Members without those that are undefined, for types that distinguish the two. */
export const withoutUndefined = <T extends object>(
  members: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
