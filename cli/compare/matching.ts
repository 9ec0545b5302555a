import { nameStem } from "../../provider/definition/automatic-name.js";
import type { Definition } from "../../provider/definition/define.js";
import {
  type ChangeValue,
  changeInside,
  changeMembers,
  referencesIn,
} from "../../provider/definition/fields.js";
import { naturalKey, setUpOrder } from "../../provider/definition/kinds.js";
import { sameFieldsMeaning } from "../../provider/definition/meaning.js";
import { type JsonObject, objectOf } from "../../provider/kernel/json.js";
import { digest } from "../../provider/lifecycle/ownership/mark.js";
import { resources } from "../../provider/resources/index.js";
import type { AccountSource, SourceObject } from "../inventory/account-source.js";

/** A name as people compare it. */
export const plainName = (name: string): string => name.normalize("NFC").trim();

/** How far objects are followed: an account leads to a channel, or over two more to an authentication. */
const rounds = 3;

const digestLength = 16;

/**
 * A text for each object with the names of its neighbors: what it refers to, and what refers to it.
 * It distinguishes two objects of one name on one side and finds them again on the other.
 */
const describeNeighbours = (
  objects: readonly SourceObject[],
): ReadonlyMap<SourceObject, string> => {
  const keyOf = ({ definition: { kind }, id }: SourceObject): string => `${kind} ${id}`;
  const edges = objects.flatMap((object) =>
    referencesIn(object.definition.fields, object.fields).map(({ to, id, path }) => ({
      from: keyOf(object),
      to: `${to.kind} ${id}`,
      path,
    })),
  );
  const [out, into] = [Map.groupBy(edges, ({ from }) => from), Map.groupBy(edges, ({ to }) => to)];
  let texts = new Map(
    objects.map((object) => {
      const plain = plainName(object.name);
      return [keyOf(object), `${object.definition.kind} ${nameStem(plain) ?? plain}`];
    }),
  );
  for (let round = 0; round < rounds; round += 1) {
    const before = texts;
    const around = (key: string): readonly string[] => [
      before.get(key) ?? key,
      ...(out.get(key) ?? []).map(({ path, to }) => `> ${path} ${before.get(to) ?? ""}`).sort(),
      ...(into.get(key) ?? []).map(({ path, from }) => `< ${path} ${before.get(from)}`).sort(),
    ];
    texts = new Map(
      [...before.keys()].map((key) => [key, digest(around(key).join("\n"), digestLength)]),
    );
  }
  return new Map(objects.map((object) => [object, texts.get(keyOf(object)) ?? ""]));
};

type Side = "a" | "b";

/** The same object on both sides. */
export interface MatchedPair {
  readonly a: SourceObject;
  readonly b: SourceObject;
  /** The criterion by which the two were matched. */
  readonly by: "name" | "logical name" | "automatic name" | "references";
}

/** The fields of both objects, with names in place of the IDs of objects that are on both sides. */
type LinkedFields = (a: SourceObject, b: SourceObject) => readonly [JsonObject, JsonObject];

/** The objects found on both sides, and on one only. */
interface MatchedObjects {
  readonly pairs: readonly MatchedPair[];
  readonly linkedFields: LinkedFields;
  readonly onlyInA: readonly SourceObject[];
  readonly onlyInB: readonly SourceObject[];
}

/** Objects that the other side certainly does not have. */
const missingIn = (
  objects: Iterable<SourceObject>,
  { unread = [] }: AccountSource,
): readonly SourceObject[] =>
  [...objects].filter(
    ({ definition, tenant }) =>
      !unread.some(
        (each) =>
          each.kind === definition.kind && (each.tenant === undefined || each.tenant === tenant),
      ),
  );

/**
 * Finds the same objects on two sides, never by their IDs: by their natural key, by the logical
 * name in a program, by an automatic name without its suffix, and last by what they refer to.
 * Referenced objects come first, so that references can be followed. Among several with one name,
 * it pairs those that are equal or that the same objects refer to.
 */
export const matchObjects = (a: AccountSource, b: AccountSource): MatchedObjects => {
  const free = { a: new Set(a.objects), b: new Set(b.objects) };
  const pairs: MatchedPair[] = [];
  const neighbours = new Map([...describeNeighbours(a.objects), ...describeNeighbours(b.objects)]);
  // The same text on both sides if a reference leads to the same object, else different ones.
  const texts = { a: new Map<string, string>(), b: new Map<string, string>() };
  const unread = new Set([a, b].flatMap((side) => (side.unread ?? []).map(({ kind }) => kind)));
  const linkTo = (side: Side, kind: string, id: unknown): string =>
    unread.has(kind) ? `unreadable ${kind}` : (texts[side].get(`${kind} ${id}`) ?? `${kind} ${id}`);

  const linkFields = (side: Side, object: SourceObject, hidden: ReadonlySet<string>) => {
    const link: ChangeValue = (field, value) => {
      if (value === undefined || value === null) return undefined;
      return field.type === "reference"
        ? linkTo(side, field.to.kind, value)
        : changeInside(field, value, link);
    };
    const seen = Object.entries(object.fields).filter(([name]) => !hidden.has(name));
    return changeMembers(object.definition.fields, objectOf(seen), link);
  };
  const linkedFields: LinkedFields = (one, other) => {
    // What one side has encrypted is not known.
    const hidden = new Set([...(one.encrypted ?? []), ...(other.encrypted ?? [])]);
    return [linkFields("a", one, hidden), linkFields("b", other, hidden)];
  };

  type Fits = (one: SourceObject, other: SourceObject) => boolean;
  const isSame: Fits = (one, other) => {
    const { fields } = one.definition;
    const [left, right] = linkedFields(one, other);
    return sameFieldsMeaning(fields, left, right) && sameFieldsMeaning(fields, right, left);
  };
  const isPlacedSame: Fits = (one, other) => neighbours.get(one) === neighbours.get(other);
  const withoutName = (object: SourceObject): SourceObject => {
    const { [naturalKey(object.definition)]: _, ...fields } = object.fields;
    return { ...object, fields };
  };
  const isSameShape: Fits = (one, other) => isSame(withoutName(one), withoutName(other));

  type KeyOf = (object: SourceObject, side: Side) => string | undefined;
  const groupFree = (side: Side, { kind }: Definition, keyOf: KeyOf) => {
    const all = [...free[side]].filter(({ definition }) => definition.kind === kind);
    return Map.groupBy(all, (object) => {
      const key = keyOf(object, side);
      return key === undefined ? undefined : `${object.tenant ?? ""} ${key}`;
    });
  };
  const taken = new Set<string>();
  const pair = (one: SourceObject, other: SourceObject, by: MatchedPair["by"]): void => {
    free.a.delete(one);
    free.b.delete(other);
    pairs.push({ a: one, b: other, by });
    const { kind } = one.definition;
    const name = `${kind} ${one.name}`;
    // A number distinguishes objects of one name.
    let text = name;
    for (let number = 2; taken.has(text); number += 1) text = `${name} (${number})`;
    taken.add(text);
    texts.a.set(`${kind} ${one.id}`, text);
    texts.b.set(`${kind} ${other.id}`, text);
  };
  /** Pairs objects of one key; those that also match in everything else are paired first. */
  const pairBy = (
    definition: Definition,
    by: MatchedPair["by"],
    keyOf: KeyOf,
    fits: readonly Fits[],
  ): void => {
    const [as, bs] = [groupFree("a", definition, keyOf), groupFree("b", definition, keyOf)];
    for (const [key, ones] of as) {
      const others = key === undefined ? undefined : bs.get(key);
      for (const isFit of others ? fits : [])
        for (const one of ones) {
          if (!free.a.has(one)) continue;
          const found = others?.find((other) => free.b.has(other) && isFit(one, other));
          if (found) pair(one, found, by);
        }
    }
  };

  const closest: readonly Fits[] = [
    (one, other) => isPlacedSame(one, other) && isSame(one, other),
    isSame,
    isPlacedSame,
    () => true,
  ];
  for (const definition of setUpOrder(resources)) {
    pairBy(definition, "name", ({ name }) => plainName(name) || undefined, closest);
    pairBy(definition, "logical name", ({ logicalName }) => logicalName, closest);
    pairBy(definition, "automatic name", ({ name }) => nameStem(plainName(name)), closest);
    const whereItLeads: KeyOf = ({ fields }, side) => {
      const references = referencesIn(definition.fields, fields);
      const places = references.map(({ to, id }) => linkTo(side, to.kind, id)).sort();
      return places.length === 0 ? undefined : places.join("\n");
    };
    pairBy(definition, "references", whereItLeads, [isSameShape]);
  }
  return {
    pairs,
    linkedFields,
    onlyInA: missingIn(free.a, b),
    onlyInB: missingIn(free.b, a),
  };
};
