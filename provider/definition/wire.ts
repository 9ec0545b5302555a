import { isObject, type JsonObject, memberOf, objectOf } from "../kernel/json.js";
import type { Definition, Field, Fields, ListField, MapField, TextField } from "./define.js";

/** How values of a program and the service's JSON differ for one tenant. */
export interface VendorName {
  /** The vendor's own word, which stands for `platform` in identifiers (setting `platformName`). */
  readonly platformName: string;
}

const neutral = "platform_";

/** Words as they travel: for comparing two values of the service with each other. */
export const neutralVendor: VendorName = { platformName: "platform" };

/** Name of a field in the service's JSON. */
export const wireName = (name: string, field: Field): string => field.wire ?? name;

const known = new WeakMap<Fields, ReadonlyMap<string, readonly [name: string, field: Field]>>();

/** Fields and their names in a program, by their names in the service's JSON. */
export const fieldsByWireName = (
  fields: Fields,
): ReadonlyMap<string, readonly [name: string, field: Field]> => {
  const before = known.get(fields);
  if (before) return before;
  const byWire = new Map(
    Object.entries(fields).map(
      ([name, field]) => [wireName(name, field), [name, field] as const] as const,
    ),
  );
  known.set(fields, byWire);
  return byWire;
};

/** Names of the two members of an entry of a map. */
export const membersOf = (field: MapField): { readonly key: string; readonly value: string } =>
  field.members ?? { key: "name", value: "value" };

const vendorWord = (field: TextField, value: unknown, from: string, to: string): unknown =>
  field.values?.some((word) => word.startsWith(neutral)) &&
  typeof value === "string" &&
  value.startsWith(from)
    ? to + value.slice(from.length)
    : value;

const wrapped = (key: string | undefined, value: unknown): unknown =>
  key ? { [key]: value } : value;

/** What an envelope holds; a value that came without its envelope is taken as it is. */
export const unwrapped = (key: string | undefined, value: unknown): unknown =>
  key !== undefined && isObject(value) ? memberOf(value, key) : value;

/** One value of a program as the service's JSON. */
export const toWire = (field: Field, value: unknown, vendor: VendorName): unknown => {
  switch (field.type) {
    case "text":
      return wrapped(field.envelope, vendorWord(field, value, neutral, `${vendor.platformName}_`));
    case "reference":
      return field.plainId ? value : { id: value };
    case "object":
      return isObject(value) ? fieldsToWire(field.fields, value, vendor) : value;
    case "list":
      return Array.isArray(value)
        ? wrapped(
            field.envelope,
            value.map((item) => toWire(field.of, item, vendor)),
          )
        : value;
    case "map": {
      const { key, value: member } = membersOf(field);
      return isObject(value)
        ? Object.entries(value).map(([name, of]) => ({
            [key]: name,
            [member]: toWire(field.of, of, vendor),
          }))
        : value;
    }
    default:
      return value;
  }
};

/** Members of a program's object as the service's JSON; members without a field are left out. */
export const fieldsToWire = (fields: Fields, values: JsonObject, vendor: VendorName): JsonObject =>
  objectOf(
    Object.entries(fields)
      .filter(([name]) => values[name] !== undefined)
      .map(([name, field]) => [wireName(name, field), toWire(field, values[name], vendor)]),
  );

/** What an entry holds whose value is left out. */
const emptyValue = ({ type }: Field): unknown =>
  type === "text"
    ? ""
    : type === "list"
      ? []
      : type === "map" || type === "object"
        ? {}
        : undefined;

/** The key of an entry of a map; undefined where it has none. */
export const keyOf = (field: MapField, entry: unknown): string | undefined => {
  const key = isObject(entry) ? memberOf(entry, membersOf(field).key) : undefined;
  return typeof key === "string" || typeof key === "number" ? String(key) : undefined;
};

/** Keys and values, whether they travel as a list of entries or as the members of one object. */
const entriesOf = (
  field: MapField,
  wire: unknown,
): readonly (readonly [key: string, value: unknown])[] | undefined => {
  if (isObject(wire)) return Object.entries(wire);
  if (!Array.isArray(wire)) return undefined;
  const { value } = membersOf(field);
  return wire.filter(isObject).flatMap((entry) => {
    const key = keyOf(field, entry);
    return key === undefined ? [] : [[key, memberOf(entry, value)] as const];
  });
};

const mapFromWire = (field: MapField, wire: unknown, vendor: VendorName): unknown => {
  const entries = entriesOf(field, wire)?.map(
    ([key, value]) => [key, fromWire(field.of, value, vendor) ?? emptyValue(field.of)] as const,
  );
  return entries && objectOf(entries);
};

const listFromWire = (field: ListField, wire: unknown, vendor: VendorName): unknown => {
  const items = unwrapped(field.envelope, wire);
  return Array.isArray(items)
    ? items.map((item) => fromWire(field.of, item, vendor)).filter((item) => item !== undefined)
    : undefined;
};

/**
 * One value of the service's JSON as a program gives it. Undefined for an object, a list or a map
 * that has another shape; a scalar of another type is left as it is, for `sameMeaning` to judge.
 */
export const fromWire = (field: Field, wire: unknown, vendor: VendorName): unknown => {
  if (wire === undefined || wire === null) return undefined;
  switch (field.type) {
    case "text": {
      const value = unwrapped(field.envelope, wire) ?? undefined;
      return vendorWord(field, value, `${vendor.platformName}_`, neutral);
    }
    case "reference":
      return (field.plainId ? wire : unwrapped("id", wire)) ?? undefined;
    case "object":
      return isObject(wire) ? fieldsFromWire(field.fields, wire, vendor) : undefined;
    case "list":
      return listFromWire(field, wire, vendor);
    case "map":
      return mapFromWire(field, wire, vendor);
    default:
      return wire;
  }
};

/** Members of the service's JSON as a program gives them; what no field knows is left out. */
export const fieldsFromWire = (fields: Fields, wire: JsonObject, vendor: VendorName): JsonObject =>
  objectOf(
    Object.entries(fields).map(([name, field]) => [
      name,
      fromWire(field, memberOf(wire, wireName(name, field)), vendor),
    ]),
  );

/** A whole object of a kind as the service's JSON. */
export const bodyOf = (
  definition: Definition,
  inputs: JsonObject,
  vendor: VendorName,
): JsonObject => fieldsToWire(definition.fields, inputs, vendor);
