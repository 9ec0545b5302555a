import { isObject, type JsonObject, listAt, memberOf, objectOf } from "../kernel/json.js";
import {
  type Definition,
  type Field,
  type Fields,
  type ListField,
  type MapField,
  object,
  type TextField,
} from "./define.js";
import {
  addedMembers,
  contentsOf,
  fieldsByWireName,
  itemPath,
  keyOf,
  memberPath,
  membersOf,
  unwrapped,
  wireName,
} from "./fields.js";

/** A tenant-specific difference between a program's values and the service's JSON. */
export interface VendorName {
  /** The vendor's own word, which replaces `platform` in identifiers (setting `platformName`). */
  readonly platformName: string;
}

const neutral = "platform_";

/** A vendor name that changes no identifiers, for comparing two values from the service. */
export const neutralVendor: VendorName = { platformName: "platform" };

const vendorWord = (field: TextField, value: unknown, from: string, to: string): unknown =>
  field.values?.some((word) => word.startsWith(neutral)) &&
  typeof value === "string" &&
  value.startsWith(from)
    ? to + value.slice(from.length)
    : value;

const wrapped = (key: string | undefined, value: unknown): unknown =>
  key ? { [key]: value } : value;

/** Converts one value from a program to the service's JSON. */
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

/**
 * Converts the members of a program's object to the service's JSON; omits members without a field.
 */
export const fieldsToWire = (fields: Fields, values: JsonObject, vendor: VendorName): JsonObject =>
  objectOf(
    [...fieldsByWireName(fields)]
      .filter(([, [name]]) => values[name] !== undefined)
      .map(([wire, [name, field]]) => [wire, toWire(field, values[name], vendor)]),
  );

/** Converts a complete object of a kind to the service's JSON. */
export const bodyOf = (
  definition: Definition,
  inputs: JsonObject,
  vendor: VendorName,
): JsonObject => fieldsToWire(definition.fields, inputs, vendor);

/** The value of an entry whose value is left out. */
const emptyValue = ({ type }: Field): unknown =>
  type === "text"
    ? ""
    : type === "list"
      ? []
      : type === "map" || type === "object"
        ? {}
        : undefined;

/** Keys and values, sent either as a list of entries or as the members of one object. */
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
 * Converts one value from the service's JSON to the form in which a program sets it. Returns
 * undefined if an object, a list, or a map is expected and the value has another shape; a scalar of
 * an unexpected type stays unchanged, for `sameMeaning` to compare.
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

/**
 * Converts members of the service's JSON to the form in which a program sets them; omits members
 * without a field.
 */
export const fieldsFromWire = (fields: Fields, wire: JsonObject, vendor: VendorName): JsonObject =>
  objectOf(
    Object.entries(fields).map(([name, field]) => [
      name,
      fromWire(field, memberOf(wire, wireName(name, field)), vendor),
    ]),
  );

/** Converts a value from the service to a program's form, leaving the vendor's words unchanged. */
export const readWire = (field: Field, wire: unknown): unknown =>
  fromWire(field, wire, neutralVendor);

/** Returns the items in a list on the wire; empty if the value is not a list. */
export const itemsOf = (field: ListField, wire: unknown): readonly unknown[] =>
  listAt(unwrapped(field.envelope, wire));

/** The paths of the parts of a value that no field covers; null counts as absent. */
const unknownParts = (field: Field, wire: unknown, path: string): readonly string[] =>
  contentsOf(field, wire).flatMap(({ field: of, steps, value }) => {
    const here = steps.reduce<string>((at, step) => {
      const isItem = field.type === "list" && typeof step === "number";
      return isItem
        ? itemPath(at, field, readWire(field.of, value), step)
        : memberPath(at, String(step));
    }, path);
    if (steps.length === 0 || value === null || value === undefined) return [];
    if (!of) return [here];
    // Members of a referenced object belong to that object.
    return field.type === "reference" ? [] : unknownParts(of, value, here);
  });

/**
 * Returns the paths of an object's members that no field of its kind covers, as a program would
 * write them. No PUT carries any of them. Any may be a secret, so none is written to a file.
 */
export const unknownMembers = (
  { fields }: Pick<Definition, "fields">,
  wire: JsonObject,
): readonly string[] => {
  const own = Object.entries(wire).filter(([name]) => !addedMembers.includes(name));
  return unknownParts(object({ doc: "", fields }), objectOf(own), "");
};
