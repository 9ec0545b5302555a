import {
  filledText,
  isObject,
  type JsonObject,
  listedObjects,
  memberOf,
} from "../../provider/kernel/json.js";

// Runs in browsers too: nothing of Node may be imported here, not even by what is imported.

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

/** Members without those that are undefined, for types that tell the two apart. */
export const withoutUndefined = <T extends object>(
  members: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
