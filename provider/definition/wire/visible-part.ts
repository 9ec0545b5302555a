import { isObject, type JsonObject, memberOf, objectOf } from "../../kernel/json.js";
import type { Field, Fields, ListField, MapField } from "../define.js";
import { itemPath, memberPath } from "../paths.js";
import { itemsOf, readWire } from "./pairs.js";
import { type Evidence, isMissing, isSurelyMask, looksMasked } from "./secret-evidence.js";
import { fieldsByWireName, keyOf, membersOf } from "./wire.js";

/** What becomes of a value of the service, and the paths of what the program does not name in it. */
export interface Part {
  /** What can be written back; undefined where nothing is left that could stand alone. */
  readonly value: unknown;
  /** Secrets that the service hides, so that nobody can write them back. */
  readonly hidden: readonly string[];
  /** Members that stay as they are. */
  readonly undeclared: readonly string[];
}

export const partOf = (
  value: unknown,
  hidden: readonly string[] = [],
  undeclared: readonly string[] = [],
): Part => ({ value, hidden, undeclared });

/** A value that is made of parts. */
export const wholeOf = (parts: readonly Part[], value: unknown): Part =>
  partOf(
    value,
    parts.flatMap(({ hidden }) => hidden),
    parts.flatMap(({ undeclared }) => undeclared),
  );

type NamedParts = readonly (readonly [name: string, part: Part])[];

/** An object that is made of its members. */
export const together = (parts: NamedParts): Part =>
  wholeOf(
    parts.map(([, part]) => part),
    objectOf(parts.map(([name, { value }]) => [name, value])),
  );

/** @param isNeeded Without the value, what holds it could not be there. */
const isHidden = (value: unknown, evidence: Evidence, isNeeded: boolean): boolean => {
  if (isMissing(value)) {
    return evidence.omits || (!evidence.echoes && (isNeeded || value === ""));
  }
  if (typeof value !== "string") return false;
  return value === evidence.mask || (!evidence.echoes && looksMasked(value));
};

/** Members that are visible; nothing, where what is left says nothing. */
const visibleMembers = (parts: NamedParts): Part => {
  const whole = together(parts);
  const isGone = whole.hidden.length > 0 && isObject(whole.value) && holdsNothing(whole.value);
  return isGone ? partOf(undefined, whole.hidden) : whole;
};

/** Nothing in it, or nothing but null. */
export const holdsNothing = (value: JsonObject): boolean =>
  Object.values(value).every((member) => member === null);

/** The members of an object as they came, but none that would lead to a prototype. */
export const safeEntries = (value: JsonObject): [string, unknown][] =>
  Object.entries(value).filter(([name]) => name !== "__proto__");

/** What no field knows: it is kept, unless it surely is a mask. */
export const visibleUnknown = (value: unknown, path: string, evidence: Evidence): Part => {
  if (typeof value === "string") {
    const isMask = value === evidence.mask || (!evidence.echoes && isSurelyMask(value));
    return isMask ? partOf(undefined, [path]) : partOf(value);
  }
  if (isObject(value)) {
    return visibleMembers(
      safeEntries(value).map(([name, of]) => [
        name,
        visibleUnknown(of, memberPath(path, name), evidence),
      ]),
    );
  }
  if (!Array.isArray(value)) return partOf(value);
  const items = value.map((item, place) => visibleUnknown(item, `${path}[${place}]`, evidence));
  const hidden = items.flatMap((item) => item.hidden);
  return partOf(hidden.length > 0 ? undefined : items.map((item) => item.value), hidden);
};

/** Secrets that are not there, though the service is known to leave out what is. */
export const omittedSecrets = (
  fields: Fields,
  live: JsonObject,
  path: string,
  evidence: Evidence,
): readonly string[] =>
  [...fieldsByWireName(fields)].flatMap(([wire, [name, field]]) =>
    field.secret &&
    !Object.hasOwn(live, wire) &&
    isHidden(undefined, evidence, field.required === true)
      ? [memberPath(path, name)]
      : [],
  );

/** Whether an object has everything that the service asks of it. */
export const stands = (fields: Fields, value: JsonObject): boolean =>
  [...fieldsByWireName(fields)].every(
    ([wire, [, field]]) => !field.required || !isMissing(memberOf(value, wire)),
  );

const visibleObject = (
  fields: Fields,
  live: JsonObject,
  path: string,
  evidence: Evidence,
): Part => {
  const byWire = fieldsByWireName(fields);
  const parts = visibleMembers(
    safeEntries(live).map(([wire, value]) => {
      const [name, field] = byWire.get(wire) ?? [wire, undefined];
      const isNeeded = field?.required === true;
      return [wire, visiblePart(field, value, memberPath(path, name), evidence, isNeeded)];
    }),
  );
  const hidden = [...parts.hidden, ...omittedSecrets(fields, live, path, evidence)];
  const isWhole = hidden.length === 0 || (isObject(parts.value) && stands(fields, parts.value));
  return partOf(isWhole ? parts.value : undefined, hidden);
};

/** An entry stands by its value: without it, there is nothing to write. */
const visibleEntry = (field: MapField, entry: unknown, path: string, evidence: Evidence): Part => {
  if (!isObject(entry)) return partOf(entry);
  const { key, value } = membersOf(field);
  const here = memberPath(path, keyOf(field, entry) ?? "");
  const names = [...new Set([...safeEntries(entry).map(([name]) => name), value])];
  const parts = names.map((name) => {
    const of = memberOf(entry, name);
    if (name === value) return [name, visiblePart(field.of, of, here, evidence, true)] as const;
    const isKey = name === key;
    return [
      name,
      isKey ? partOf(of) : visibleUnknown(of, memberPath(here, name), evidence),
    ] as const;
  });
  const whole = visibleMembers(parts);
  const stays =
    whole.hidden.length === 0 || (isObject(whole.value) && Object.hasOwn(whole.value, value));
  return partOf(stays ? whole.value : undefined, whole.hidden);
};

const visibleItems = (
  wire: readonly unknown[],
  partAt: (item: unknown, place: number) => Part,
): Part => {
  const parts = wire.map(partAt);
  const hidden = parts.flatMap((part) => part.hidden);
  const left = parts.filter((part) => part.hidden.length === 0 || part.value !== undefined);
  const isGone = hidden.length > 0 && left.length === 0;
  return partOf(isGone ? undefined : left.map(({ value }) => value), hidden);
};

const visibleList = (field: ListField, wire: unknown, path: string, evidence: Evidence): Part => {
  const items = itemsOf(field, wire);
  const part = visibleItems(items, (item, place) =>
    visiblePart(
      field.of,
      item,
      itemPath(path, field, readWire(field.of, item), place),
      evidence,
      true,
    ),
  );
  if (part.hidden.length === 0) return partOf(wire);
  if (!field.envelope || !isObject(wire)) return part;
  return part.value === undefined
    ? part
    : partOf({ ...wire, [field.envelope]: part.value }, part.hidden);
};

/**
 * What of a value that the program does not declare can be written back: everything but secrets
 * that the service shows as a mask, or leaves out.
 *
 * @param field Undefined where no field knows the value.
 * @param wire The service's JSON.
 */
export const visiblePart = (
  field: Field | undefined,
  wire: unknown,
  path: string,
  evidence: Evidence,
  isNeeded = false,
): Part => {
  if (!field) return visibleUnknown(wire, path, evidence);
  if (field.secret) {
    return isHidden(wire, evidence, isNeeded) ? partOf(undefined, [path]) : partOf(wire);
  }
  switch (field.type) {
    case "object":
      return isObject(wire) ? visibleObject(field.fields, wire, path, evidence) : partOf(wire);
    case "list":
      return visibleList(field, wire, path, evidence);
    case "map":
      return Array.isArray(wire)
        ? visibleItems(wire, (entry) => visibleEntry(field, entry, path, evidence))
        : partOf(wire);
    default:
      return partOf(wire);
  }
};
