import { isObject, type JsonObject, listedObjects, objectOf } from "../kernel/json.js";
import {
  type Definition,
  type Field,
  type Fields,
  type ListField,
  type MapField,
  outputFields,
} from "./define.js";
import { fieldsByWireName, itemPath, keyOf, memberPath, membersOf } from "./fields.js";
import { itemsOf, readWire } from "./wire.js";

/** Whether the service adds a member to each object. */
export const isAdded = (name: string): boolean =>
  name === "id" || Object.hasOwn(outputFields, name);

/** The members that are set; null means absent. */
const entriesIn = (value: unknown): readonly (readonly [string, unknown])[] =>
  isObject(value) ? Object.entries(value).filter(([, of]) => of !== null) : [];

/** The members of an object other than those that a field consists of. */
const besides = (wire: unknown, own: readonly string[], path: string): readonly string[] =>
  entriesIn(wire).flatMap(([name]) => (own.includes(name) ? [] : [memberPath(path, name)]));

const inMembers = (fields: Fields, wire: JsonObject, path: string): readonly string[] =>
  entriesIn(wire).flatMap(([name, value]) => {
    const [own, field] = fieldsByWireName(fields).get(name) ?? [];
    return own && field
      ? unknownPaths(field, value, memberPath(path, own))
      : [memberPath(path, name)];
  });

const inEntries = (field: MapField, wire: unknown, path: string): readonly string[] => {
  const { key, value } = membersOf(field);
  return listedObjects(wire).flatMap((entry) => {
    const at = memberPath(path, keyOf(field, entry) ?? "");
    return [...besides(entry, [key, value], at), ...unknownPaths(field.of, entry[value], at)];
  });
};

const inItems = (field: ListField, wire: unknown, path: string): readonly string[] => [
  ...(field.envelope === undefined ? [] : besides(wire, [field.envelope], path)),
  ...itemsOf(field, wire).flatMap((item, place) =>
    unknownPaths(field.of, item, itemPath(path, field, readWire(field.of, item), place)),
  ),
];

/**
 * Paths of the members in a value of the service that no field covers. Members of a referenced
 * object belong to that object.
 *
 * @param path of the value, as a program would write it
 */
const unknownPaths = (field: Field, wire: unknown, path: string): readonly string[] => {
  switch (field.type) {
    case "object":
      return isObject(wire) ? inMembers(field.fields, wire, path) : [];
    case "list":
      return inItems(field, wire, path);
    case "map":
      return inEntries(field, wire, path);
    case "text":
      return field.envelope === undefined ? [] : besides(wire, [field.envelope], path);
    case "reference": {
      const known = [...fieldsByWireName(field.to.fields).keys()];
      return besides(wire, ["id", ...known, ...Object.keys(outputFields)], path);
    }
    default:
      return [];
  }
};

/**
 * Returns the paths of an object's members that no field of its kind covers, as a program would
 * write them. No PUT carries any of them. Any may be a secret, so none is written to a file.
 */
export const unknownMembers = (
  { fields }: Pick<Definition, "fields">,
  wire: JsonObject,
): readonly string[] =>
  inMembers(fields, objectOf(Object.entries(wire).filter(([name]) => !isAdded(name))), "");
