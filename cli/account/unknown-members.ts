import { type Definition, type Fields, outputFields } from "../../provider/definition/define.js";
import { isSurelyMask } from "../../provider/definition/wire/secret-evidence.js";
import { fieldsByWireName } from "../../provider/definition/wire/wire.js";
import { isObject, type JsonObject, objectOf } from "../../provider/kernel/json.js";

/** What a service adds to each object, and names that no program may give. */
const neverGiven = new Set(["id", ...Object.keys(outputFields), "constructor", "prototype"]);

/** Nobody can write back what is hidden. */
const isHidden = (value: unknown): boolean => {
  if (typeof value === "string") return isSurelyMask(value);
  const inside = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
  return inside.some(isHidden);
};

/** A member that is null says that there is none. */
const withoutNull = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutNull);
  if (!isObject(value)) return value;
  const there = Object.entries(value).filter(([, of]) => of !== null);
  return objectOf(there.map(([name, of]) => [name, withoutNull(of)]));
};

const given = (value: unknown): unknown =>
  value === null || isHidden(value) ? undefined : withoutNull(value);

const unknownIn = (fields: Fields, wire: JsonObject): JsonObject => {
  const byWire = fieldsByWireName(fields);
  return objectOf(
    Object.entries(wire).map(([name, value]) => {
      const [, field] = byWire.get(name) ?? [];
      if (!field) return [name, given(value)];
      if (field.type !== "object" || !isObject(value)) return [name, undefined];
      const inside = unknownIn(field.fields, value);
      return [name, Object.keys(inside).length > 0 ? inside : undefined];
    }),
  );
};

/**
 * The members of an object that no field of its kind knows, as `extra` takes them: at the top and in
 * documented objects. Those in the items of lists have no place in `extra`; they stay as they are.
 */
export const unknownMembers = (
  { fields }: Definition,
  wire: JsonObject,
): JsonObject | undefined => {
  const own = objectOf(Object.entries(wire).filter(([name]) => !neverGiven.has(name)));
  const unknown = unknownIn(fields, own);
  return Object.keys(unknown).length > 0 ? unknown : undefined;
};
