import type { Definition } from "./define.js";
import type { Field, Fields, MapField, TextField } from "./field.js";
import { isObject, type JsonObject, objectOf } from "./json.js";

/** How values of a program and the service's JSON differ for one tenant. */
export interface Dialect {
  /** The vendor's own word, which stands for `platform` in identifiers (setting `platformName`). */
  readonly platformName: string;
}

const neutral = "platform_";

/** Name of a field in the service's JSON. */
export const wireName = (name: string, field: Field): string => field.wire ?? name;

const membersOf = (field: MapField) => field.members ?? { key: "name", value: "value" };

const vendorWord = (field: TextField, value: unknown, from: string, to: string): unknown =>
  field.values?.some((word) => word.startsWith(neutral)) &&
  typeof value === "string" &&
  value.startsWith(from)
    ? to + value.slice(from.length)
    : value;

const box = (key: string | undefined, value: unknown): unknown => (key ? { [key]: value } : value);

const unbox = (key: string | undefined, value: unknown): unknown =>
  key ? (isObject(value) ? value[key] : undefined) : value;

/** One value of a program as the service's JSON. */
export const toWire = (field: Field, value: unknown, dialect: Dialect): unknown => {
  switch (field.type) {
    case "text":
      return box(field.boxed, vendorWord(field, value, neutral, `${dialect.platformName}_`));
    case "reference":
      return field.bare ? value : { id: value };
    case "object":
      return isObject(value) ? fieldsToWire(field.fields, value, dialect) : value;
    case "list":
      return Array.isArray(value)
        ? box(
            field.boxed,
            value.map((item) => toWire(field.of, item, dialect)),
          )
        : value;
    case "map": {
      const { key, value: member } = membersOf(field);
      return isObject(value)
        ? Object.entries(value).map(([name, of]) => ({
            [key]: name,
            [member]: toWire(field.of, of, dialect),
          }))
        : value;
    }
    default:
      return value;
  }
};

/** Members of a program's object as the service's JSON; members without a field are left out. */
export const fieldsToWire = (fields: Fields, values: JsonObject, dialect: Dialect): JsonObject =>
  objectOf(
    Object.entries(fields)
      .filter(([name]) => values[name] !== undefined)
      .map(([name, field]) => [wireName(name, field), toWire(field, values[name], dialect)]),
  );

const entriesFromWire = (field: MapField, value: unknown, dialect: Dialect): unknown => {
  if (!Array.isArray(value)) return undefined;
  const { key, value: member } = membersOf(field);
  return objectOf(
    value
      .filter(isObject)
      .map((entry) => [String(entry[key]), fromWire(field.of, entry[member], dialect) ?? ""]),
  );
};

/** One value of the service's JSON as a program gives it; undefined where it has another shape. */
export const fromWire = (field: Field, wire: unknown, dialect: Dialect): unknown => {
  if (wire === undefined || wire === null) return undefined;
  switch (field.type) {
    case "text":
      return vendorWord(field, unbox(field.boxed, wire), `${dialect.platformName}_`, neutral);
    case "reference":
      return field.bare ? wire : unbox("id", wire);
    case "object":
      return isObject(wire) ? fieldsFromWire(field.fields, wire, dialect) : undefined;
    case "list": {
      const items = unbox(field.boxed, wire);
      return Array.isArray(items)
        ? items.map((item) => fromWire(field.of, item, dialect))
        : undefined;
    }
    case "map":
      return entriesFromWire(field, wire, dialect);
    default:
      return wire;
  }
};

/** Members of the service's JSON as a program gives them; what no field knows is left out. */
export const fieldsFromWire = (fields: Fields, wire: JsonObject, dialect: Dialect): JsonObject =>
  objectOf(
    Object.entries(fields).map(([name, field]) => [
      name,
      fromWire(field, wire[wireName(name, field)], dialect),
    ]),
  );

/** A whole object of a kind as the service's JSON. */
export const bodyOf = (definition: Definition, inputs: JsonObject, dialect: Dialect): JsonObject =>
  fieldsToWire(definition.fields, inputs, dialect);
