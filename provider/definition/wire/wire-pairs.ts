import { isObject, type JsonObject, memberOf } from "../../kernel/json.js";
import type { Field, ListField, MapField } from "../field.js";
import { pairs } from "../meaning/pairs.js";
import { plainText } from "../meaning/text-forms.js";
import { fromWire, keyOf, unbox, wireDialect } from "./wire.js";

/** A value of the service in a program's terms, its vendor's words as they are. */
export const readWire = (field: Field, wire: unknown): unknown =>
  fromWire(field, wire, wireDialect);

/** The items of a list as it travels; none where it has another shape. */
export const itemsOf = (field: ListField, wire: unknown): readonly unknown[] => {
  const items = unbox(field.boxed, wire);
  return Array.isArray(items) ? items : [];
};

/** For each item of the service's JSON the one in another list that stands for the same thing. */
export const partnersOf = (
  field: ListField,
  items: readonly unknown[],
  others: readonly unknown[],
): readonly unknown[] => {
  const read = (list: readonly unknown[]) => list.map((item) => readWire(field.of, item));
  return pairs(field, read(items), read(others)).map((place) =>
    place === undefined ? undefined : others[place],
  );
};

/** The entries of a map as it travels, by their keys; none where it has another shape. */
export const entriesByKey = (field: MapField, wire: unknown): ReadonlyMap<string, JsonObject> => {
  const entries = Array.isArray(wire) ? wire.filter(isObject) : [];
  return new Map(
    entries.flatMap((entry) => {
      const key = keyOf(field, entry);
      return key === undefined ? [] : [[plainText(key), entry] as const];
    }),
  );
};

/** One place of an object as the service has it, as the program wants it, and as it wanted it last time. */
export interface Sides {
  readonly live: unknown;
  readonly desired: unknown;
  readonly prior: unknown;
}

const memberIn = (value: unknown, name: string): unknown =>
  isObject(value) ? memberOf(value, name) : undefined;

/** The same member of all three; undefined where one is no object or has no such member. */
export const memberSides = ({ live, desired, prior }: Sides, name: string): Sides => ({
  live: memberIn(live, name),
  desired: memberIn(desired, name),
  prior: memberIn(prior, name),
});
