import { type ChangeValue, changeInside, changeMembers } from "../../provider/definition/fields.js";
import { setUpOrder } from "../../provider/definition/kinds.js";
import { sameFieldsMeaning } from "../../provider/definition/meaning.js";
import { type JsonObject, objectOf } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import type { ComparableObject, ComparedSide } from "./sources.js";

/** A name as people compare it. */
export const plainName = (name: string): string => name.normalize("NFC").trim();

export interface MatchedPair {
  readonly a: ComparableObject;
  readonly b: ComparableObject;
  /** The criterion by which the two were matched. */
  readonly by: "name" | "logical name";
}

interface MatchedObjects {
  readonly pairs: readonly MatchedPair[];
  /** The fields of both objects, with names in place of the IDs of objects that are on both sides. */
  readonly linkedFields: (
    a: ComparableObject,
    b: ComparableObject,
  ) => readonly [JsonObject, JsonObject];
  readonly onlyInA: readonly ComparableObject[];
  readonly onlyInB: readonly ComparableObject[];
}

/** By which two objects may be one, the best first. */
const criteria = [
  { by: "name", keyOf: ({ name }: ComparableObject) => plainName(name) || undefined },
  { by: "logical name", keyOf: ({ logicalName }: ComparableObject) => logicalName },
] as const;

/**
 * Finds the same objects on two sides, never by their IDs: by name, and then by the logical name in
 * a program. Referenced objects come first, so that references can be followed. Among several with
 * one name, it pairs equal ones first.
 */
export const matchObjects = (a: ComparedSide, b: ComparedSide): MatchedObjects => {
  const free = { a: new Set(a.objects), b: new Set(b.objects) };
  const pairs: MatchedPair[] = [];
  // The same text on both sides if a reference leads to the same object.
  const texts = { a: new Map<string, string>(), b: new Map<string, string>() };
  const unread = new Set([a, b].flatMap((side) => side.unread ?? []));

  const linkFields = (
    side: "a" | "b",
    { definition, fields }: ComparableObject,
    hidden: readonly string[],
  ): JsonObject => {
    const link: ChangeValue = (field, value) => {
      if (value === undefined || value === null) return undefined;
      if (field.type !== "reference") return changeInside(field, value, link);
      const { kind } = field.to;
      if (unread.has(kind)) return `unreadable ${kind}`;
      return texts[side].get(`${kind} ${value}`) ?? `${kind} ${value}`;
    };
    const seen = Object.entries(fields).filter(([name]) => !hidden.includes(name));
    return changeMembers(definition.fields, objectOf(seen), link);
  };
  const linkedFields: MatchedObjects["linkedFields"] = (one, other) => {
    // What one side has encrypted is not known.
    const hidden = [one, other].flatMap(({ encrypted = [] }) => encrypted);
    return [linkFields("a", one, hidden), linkFields("b", other, hidden)];
  };
  const isSame = (one: ComparableObject, other: ComparableObject): boolean => {
    const { fields } = one.definition;
    const [left, right] = linkedFields(one, other);
    return sameFieldsMeaning(fields, left, right) && sameFieldsMeaning(fields, right, left);
  };
  const pair = (one: ComparableObject, other: ComparableObject, by: MatchedPair["by"]): void => {
    free.a.delete(one);
    free.b.delete(other);
    pairs.push({ a: one, b: other, by });
    const { kind } = one.definition;
    const text = `${kind} ${one.name}`;
    texts.a.set(`${kind} ${one.id}`, text);
    texts.b.set(`${kind} ${other.id}`, text);
  };

  for (const definition of setUpOrder(resources))
    for (const { by, keyOf } of criteria) {
      const groupFree = (side: "a" | "b") =>
        Map.groupBy(
          [...free[side]].filter((object) => object.definition === definition),
          keyOf,
        );
      const others = groupFree("b");
      for (const [key, ones] of groupFree("a")) {
        if (key === undefined) continue;
        for (const isFit of [isSame, () => true])
          for (const one of ones.filter((each) => free.a.has(each))) {
            const found = others.get(key)?.find((each) => free.b.has(each) && isFit(one, each));
            if (found) pair(one, found, by);
          }
      }
    }
  // Objects that the other side certainly does not have.
  const missingIn = (objects: Iterable<ComparableObject>, side: ComparedSide) =>
    [...objects].filter(({ definition: { kind } }) => side.unread?.includes(kind) !== true);
  return {
    pairs,
    linkedFields,
    onlyInA: missingIn(free.a, b),
    onlyInB: missingIn(free.b, a),
  };
};
