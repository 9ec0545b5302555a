import { isDeepStrictEqual } from "node:util";
import { isThere } from "../definition/changes.js";
import type { Definition, Field } from "../definition/define.js";
import { fieldOfMember } from "../definition/fields.js";
import { sameValue } from "../definition/meaning.js";
import { isObject, type JsonObject, memberOf } from "../kernel/json.js";

/** A property that an update changes. */
export interface PropertyChange {
  /** The property in Pulumi's notation, such as `roles[0].name` or `headers["X-Id"]`. */
  readonly path: string;
  readonly kind: "add" | "delete" | "update";
}

/** Pulumi's notation differs from ours in keys that are no identifiers in other languages. */
const below = (path: string, name: string): string => {
  if (!/^[A-Za-z_]\w*$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path ? `${path}.${name}` : name;
};

const changesAt = (
  path: string,
  from: unknown,
  to: unknown,
  field?: Field,
): readonly PropertyChange[] => {
  if (isDeepStrictEqual(from, to) || (field && sameValue(field, from, to))) return [];
  if (!isThere(from) || !isThere(to)) {
    if (!isThere(from) && !isThere(to)) return [];
    return [{ path, kind: isThere(to) ? "add" : "delete" }];
  }
  // What is secret is shown as a whole, and never counted.
  if (field?.secret) return [{ path, kind: "update" }];
  if (isObject(from) && isObject(to)) {
    const names = new Set([...Object.keys(from), ...Object.keys(to)]);
    return [...names].flatMap((name) =>
      changesAt(
        below(path, name),
        memberOf(from, name),
        memberOf(to, name),
        fieldOfMember(field, name),
      ),
    );
  }
  if (Array.isArray(from) && Array.isArray(to)) {
    const of = field?.type === "list" ? field.of : undefined;
    return Array.from({ length: Math.max(from.length, to.length) }).flatMap((_, place) =>
      changesAt(`${path}[${place}]`, from[place], to[place], of),
    );
  }
  return [{ path, kind: "update" }];
};

/**
 * Returns the properties whose meaning to the service differs between two declarations of a
 * resource. For example, a different order in an unordered list is not a change. Includes the
 * resource's options.
 */
export const propertyChanges = (
  { fields }: Definition,
  from: JsonObject,
  to: JsonObject,
): readonly PropertyChange[] => {
  const names = new Set([...Object.keys(from), ...Object.keys(to)]);
  names.delete("__provider");
  return [...names].flatMap((name) =>
    changesAt(
      below("", name),
      memberOf(from, name),
      memberOf(to, name),
      Object.hasOwn(fields, name) ? fields[name] : undefined,
    ),
  );
};
