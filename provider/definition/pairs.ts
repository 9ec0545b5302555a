import { isObject, type JsonObject, listedObjects, memberOf } from "../kernel/json.js";
import { type Field, identityOf, type ListField, type MapField } from "./define.js";
import { matching, plainText, sameMeaning, sameValue } from "./meaning.js";
import { holdsSecret } from "./walk.js";
import { fromWire, keyOf, neutralVendor, unwrapped } from "./wire.js";

/** A value of the service in a program's terms, its vendor's words as they are. */
export const readWire = (field: Field, wire: unknown): unknown =>
  fromWire(field, wire, neutralVendor);

/** The items of a list as it travels; none where it has another shape. */
export const itemsOf = (field: ListField, wire: unknown): readonly unknown[] => {
  const items = unwrapped(field.envelope, wire);
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
  return new Map(
    listedObjects(wire).flatMap((entry) => {
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
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/** The same member of all three; undefined where one is no object or has no such member. */
export const memberSides = ({ live, desired, prior }: Sides, name: string): Sides => ({
  live: memberIn(live, name),
  desired: memberIn(desired, name),
  prior: memberIn(prior, name),
});

/** Whether two items have the same identity; undefined where the list names none. */
const haveSameIdentity = (field: ListField, a: unknown, b: unknown): boolean | undefined => {
  const { of } = field;
  const identity = identityOf(field);
  if (of.type !== "object" || identity.length === 0) return undefined;
  return identity.every((name) => {
    const member = of.fields[name];
    const [left, right] = [a, b].map((item) => (isObject(item) ? memberOf(item, name) : undefined));
    return member !== undefined && left !== undefined && sameMeaning(member, left, right);
  });
};

/** Secrets distinguish items only here: without them, items that differ would be taken for one. */
const meansTheSame = ({ of }: ListField, a: unknown, b: unknown): boolean =>
  of.type === "object" && holdsSecret(of) ? sameValue(of, a, b) : sameMeaning(of, a, b);

/**
 * For each item the place of the one in another list that stands for the same thing; undefined
 * where there is none. Items are recognised by the members that the list names as their identity,
 * else only by meaning the same: never by their place.
 *
 * @param items In a program's terms, as all items here.
 * @param others What the service answered, or what else is compared with.
 */
export const pairs = (
  field: ListField,
  items: readonly unknown[],
  others: readonly unknown[],
): readonly (number | undefined)[] => {
  // Where several share an identity, those that mean the same belong together.
  const alike = matching(
    items,
    others,
    (other, item) =>
      haveSameIdentity(field, other, item) !== false && meansTheSame(field, other, item),
  );
  const left = [...items.keys()].filter((at) => alike[at] === undefined);
  const free = [...others.keys()].filter((place) => !alike.includes(place));
  const identified = new Map(
    matching(
      left.map((at) => items[at]),
      free.map((place) => others[place]),
      (other, item) => haveSameIdentity(field, other, item) === true,
    ).map((place, at) => [left[at], place === undefined ? undefined : free[place]] as const),
  );
  return alike.map((place, at) => place ?? identified.get(at));
};
