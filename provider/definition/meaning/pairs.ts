import { isObject, memberOf } from "../../kernel/json.js";
import { identityOf, type ListField } from "../field.js";
import { holdsSecret } from "../walk.js";
import { matching } from "./matching.js";
import { sameMeaning, sameValue } from "./same.js";

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

/** Secrets tell items apart only here: without them, items that differ would be taken for one. */
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
