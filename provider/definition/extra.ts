import { isObject, type JsonObject, listAt, memberOf, objectOf } from "../kernel/json.js";
import { unknownValue } from "../kernel/stand-ins.js";
import { type Definition, type Field, type Fields, outputFields } from "./define.js";
import { fieldsByWireName, memberPath } from "./fields.js";
import { below, type IsSecret, sameExtra } from "./meaning.js";
import { outputAsText, type Violation } from "./violations.js";

/** Merges two objects recursively; where either value is not an object, uses the second. */
export const mergeDeep = (first: JsonObject, second: JsonObject): JsonObject =>
  objectOf(
    [
      ...Object.entries(first).filter(([name]) => !Object.hasOwn(second, name)),
      ...Object.entries(second).map(([name, value]) => {
        const below = memberOf(first, name);
        return [
          name,
          isObject(below) && isObject(value) ? mergeDeep(below, value) : value,
        ] as const;
      }),
    ].filter(([name]) => name !== "__proto__"),
  );

/** Members that a program only reads, or that are not valid member names. */
const refused: Readonly<Record<string, string>> = {
  ...Object.fromEntries(["id", ...Object.keys(outputFields)].map((name) => [name, "is read-only"])),
  constructor: "is not allowed as a name",
  prototype: "is not allowed as a name",
};

/** Whether no member may have this name: no path of Pulumi leads to an empty one. */
const isNoName = (name: string): boolean => name === "" || name === "__proto__";

/** Finds names and values that nothing below `extra` may contain, at any depth. */
const unusable = (value: unknown, path: string): Violation[] => {
  const output = typeof value === "string" ? outputAsText(value) : undefined;
  if (output !== undefined) return [{ path, rule: output }];
  if (typeof value === "number" && !Number.isFinite(value))
    return [{ path, rule: "must be a finite number" }];
  if (Array.isArray(value)) {
    return value.flatMap((item, place) => unusable(item, `${path}[${place}]`));
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, of]) => {
    const here = memberPath(path, name);
    return isNoName(name) ? [{ path: here, rule: "is not allowed as a name" }] : unusable(of, here);
  });
};

interface Place {
  /** As `extra` writes it, with the names used on the wire. */
  readonly path: string;
  /** The name of the property itself. */
  readonly property: string;
}

const inDocumented = (
  definition: Definition,
  fields: Fields,
  extra: JsonObject,
  at: Place,
): Violation[] => {
  const byWire = fieldsByWireName(fields);
  return Object.entries(extra).flatMap(([wire, value]) => {
    if (value === undefined) return [];
    const path = memberPath(at.path, wire);
    const known = byWire.get(wire);
    if (!known) {
      return isNoName(wire) ? unusable({ [wire]: value }, at.path) : unusable(value, path);
    }
    const [name, field] = known;
    return atField(definition, field, value, { path, property: memberPath(at.property, name) });
  });
};

/**
 * A documented object may have further members; everything else that is documented belongs in its
 * own property.
 */
const atField = (
  definition: Definition,
  field: Field,
  value: unknown,
  place: Place,
): Violation[] => {
  if (field.type === "object") {
    if (value === unknownValue) return [];
    if (isObject(value)) return inDocumented(definition, field.fields, value, place);
  }
  const { path, property } = place;
  return [{ path, rule: `is a property of ${definition.kind} itself (${property}); set it there` }];
};

/**
 * Returns every rule that `extra` breaks, such as containing a member, at any depth, that one of
 * the kind's fields defines.
 */
export const extraViolations = (definition: Definition, extra: unknown): readonly Violation[] => {
  if (extra === undefined || extra === null || extra === unknownValue) return [];
  if (!isObject(extra)) return [{ path: "extra", rule: "must be an object" }];
  const isRefused = (name: string): boolean => Object.hasOwn(refused, name);
  return [
    ...Object.keys(extra)
      .filter(isRefused)
      .map((name) => ({ path: memberPath("extra", name), rule: refused[name] ?? "" })),
    ...inDocumented(
      definition,
      definition.fields,
      objectOf(Object.entries(extra).filter(([name]) => !isRefused(name))),
      { path: "extra", property: "" },
    ),
  ];
};

/** Whether no part of a value is visible in the service. */
const isAllSecret = (value: unknown, path: string, isSecret: IsSecret): boolean =>
  isSecret(path) ||
  (isObject(value) &&
    Object.keys(value).length > 0 &&
    Object.entries(value).every(([name, of]) => isAllSecret(of, below(path, name), isSecret)));

const managedMember = (
  live: unknown,
  prior: unknown,
  path: string,
  isSecret: IsSecret,
): unknown => {
  if (sameExtra(live, prior, path, isSecret)) return prior;
  if (live === undefined) return isAllSecret(prior, path, isSecret) ? prior : undefined;
  if (Array.isArray(live)) {
    const known = listAt(prior);
    return live.map((item, place) => managedItem(item, known[place], `${path}[]`, isSecret));
  }
  return isObject(live) && isObject(prior) ? managedObject(live, prior, path, isSecret) : live;
};

/** A new item is taken unchanged, without the secrets of the others. */
const managedItem = (live: unknown, prior: unknown, path: string, isSecret: IsSecret): unknown => {
  if (prior !== undefined) return managedMember(live, prior, path, isSecret);
  if (isSecret(path)) return null;
  if (!isObject(live)) return live;
  return objectOf(
    Object.entries(live)
      .filter(([name]) => !isSecret(below(path, name)))
      .map(([name, of]) => [name, managedItem(of, undefined, below(path, name), isSecret)]),
  );
};

const managedObject = (
  live: JsonObject,
  prior: JsonObject,
  path: string,
  isSecret: IsSecret,
): JsonObject =>
  objectOf(
    Object.entries(prior).map(([name, value]) => [
      name,
      managedMember(memberOf(live, name), value, below(path, name), isSecret),
    ]),
  );

/**
 * Returns the service's values for the members in `extra`. Secrets, and values whose meaning has
 * not changed, keep their prior form; members that the service removed are absent.
 *
 * @param secretPaths paths of secrets in `extra`, such as `apiKey`, `a.b`, or `keys[0].value`; a
 * path into one list item applies to all items
 */
export const managedExtra = (
  live: JsonObject,
  prior: JsonObject,
  secretPaths: readonly string[] = [],
): JsonObject => {
  const ofAllItems = (path: string): string =>
    path.replaceAll(/\[\d*\]/g, "[]").replaceAll(/\.\d+(?=\.|$)/g, "[]");
  // The unchanged path, too: a member may have a name that looks like the place of an item.
  const places = new Set(secretPaths.flatMap((path) => [path, ofAllItems(path)]));
  return places.has("") ? prior : managedObject(live, prior, "", (path) => places.has(path));
};
