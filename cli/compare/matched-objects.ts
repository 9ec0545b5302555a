import type { Definition } from "../../provider/definition/define.js";
import { sameFieldsMeaning } from "../../provider/definition/meaning.js";
import { naturalKey, setUpOrder } from "../../provider/definition/references.js";
import { referencesIn } from "../../provider/definition/walk.js";
import { resources } from "../../provider/resources/index.js";
import type { ComparedAccount, ComparedSide } from "./compared-account.js";
import { Links, linkedFields } from "./linked-fields.js";
import { nameStem, neighbours, plainName } from "./neighbours.js";

/** By what two objects were found to be the same one. */
export type MatchedBy = "name" | "logical name" | "automatic name" | "references";

/** The same object on both sides. */
export interface MatchedPair {
  readonly a: ComparedSide;
  readonly b: ComparedSide;
  readonly by: MatchedBy;
}

/** What was found on both sides, and on one only. */
export interface MatchedObjects {
  readonly pairs: readonly MatchedPair[];
  readonly links: Links;
  readonly onlyInA: readonly ComparedSide[];
  readonly onlyInB: readonly ComparedSide[];
}

type Side = "a" | "b";
type KeyOf = (object: ComparedSide, side: Side) => string | undefined;
type Fits = (a: ComparedSide, b: ComparedSide) => boolean;

const keysOf: readonly (readonly [MatchedBy, KeyOf])[] = [
  ["name", ({ name }) => plainName(name) || undefined],
  ["logical name", ({ logicalName }) => logicalName],
  ["automatic name", ({ name }) => nameStem(plainName(name))],
];

const withoutName = (object: ComparedSide): ComparedSide => {
  const { [naturalKey(object.definition)]: _, ...fields } = object.fields;
  return { ...object, fields };
};

const unreadOf = ({ unread = [] }: ComparedAccount): readonly string[] => unread;

/** Objects that the other side surely does not have. */
const missingIn = (
  objects: readonly ComparedSide[],
  other: ComparedAccount,
): readonly ComparedSide[] =>
  objects.filter(({ definition: { kind } }) => !unreadOf(other).includes(kind));

class Matching {
  readonly pairs: MatchedPair[] = [];
  readonly links: Links;
  readonly #free: Readonly<Record<Side, Set<ComparedSide>>>;
  readonly #around: ReadonlyMap<ComparedSide, string>;

  constructor(a: ComparedAccount, b: ComparedAccount) {
    this.links = new Links(new Set([...unreadOf(a), ...unreadOf(b)]));
    this.#free = { a: new Set(a.objects), b: new Set(b.objects) };
    this.#around = new Map([...neighbours(a.objects), ...neighbours(b.objects)]);
  }

  free(side: Side): readonly ComparedSide[] {
    return [...this.#free[side]];
  }

  #byKey(side: Side, { kind }: Definition, keyOf: KeyOf) {
    const all = this.free(side).filter(({ definition }) => definition.kind === kind);
    return Map.groupBy(all, (each) => keyOf(each, side));
  }

  /** Pairs objects of one key: those that are the same in all else before others take them. */
  pairBy(definition: Definition, by: MatchedBy, keyOf: KeyOf, fits: readonly Fits[]): void {
    const [as, bs] = [this.#byKey("a", definition, keyOf), this.#byKey("b", definition, keyOf)];
    for (const [key, ones] of as) {
      const others = key === undefined ? undefined : bs.get(key);
      for (const isFit of others ? fits : [])
        for (const a of ones) {
          if (!this.#free.a.has(a)) continue;
          const found = others?.find((b) => this.#free.b.has(b) && isFit(a, b));
          if (found) this.#pair(a, found, by);
        }
    }
  }

  #pair(a: ComparedSide, b: ComparedSide, by: MatchedBy): void {
    this.#free.a.delete(a);
    this.#free.b.delete(b);
    this.pairs.push({ a, b, by });
    this.links.add({ a, b });
  }

  readonly isSame: Fits = (a, b) => {
    const { fields } = a.definition;
    const [left, right] = linkedFields(a, b, this.links);
    return sameFieldsMeaning(fields, left, right) && sameFieldsMeaning(fields, right, left);
  };

  readonly isPlacedSame: Fits = (a, b) => this.#around.get(a) === this.#around.get(b);

  /** Where an object leads, whatever its name; undefined where nowhere. */
  readonly whereItLeads: KeyOf = ({ definition, fields }, side) => {
    const references = referencesIn(definition.fields, fields);
    const places = references.map(({ to, id }) => this.links.of(side, to.kind, id)).sort();
    return places.length === 0 ? undefined : places.join("\n");
  };
}

/**
 * Finds the same objects on two sides, never by their ids: by the name that people know them by, by the
 * logical name of a program, by an automatic name without its suffix, and last by what they refer to.
 * What others refer to comes first, so that references can be followed. Of several with one name those are
 * paired that are the same, or that the same objects refer to.
 */
export const matchedObjects = (a: ComparedAccount, b: ComparedAccount): MatchedObjects => {
  const matching = new Matching(a, b);
  const { isSame, isPlacedSame } = matching;
  const closest: readonly Fits[] = [
    (one, other) => isPlacedSame(one, other) && isSame(one, other),
    isSame,
    isPlacedSame,
    () => true,
  ];
  const sameShape: Fits = (one, other) => isSame(withoutName(one), withoutName(other));
  for (const definition of setUpOrder(resources)) {
    for (const [by, keyOf] of keysOf) matching.pairBy(definition, by, keyOf, closest);
    matching.pairBy(definition, "references", matching.whereItLeads, [sameShape]);
  }
  const { pairs, links } = matching;
  return {
    ...{ pairs, links },
    onlyInA: missingIn(matching.free("a"), b),
    onlyInB: missingIn(matching.free("b"), a),
  };
};
