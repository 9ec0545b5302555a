import type { Definition } from "../../provider/definition/define.js";
import { sameFieldsMeaning } from "../../provider/definition/meaning/same.js";
import { naturalKey, setUpOrder } from "../../provider/definition/references.js";
import { referencesIn } from "../../provider/definition/walk.js";
import { resources } from "../../provider/resources/index.js";
import type { ComparedAccount, ComparedSide } from "./compared-account.js";
import { linkedFields } from "./linked-fields.js";

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
  readonly onlyInA: readonly ComparedSide[];
  readonly onlyInB: readonly ComparedSide[];
}

/** `orders-bot-cacbb85` is `orders-bot` of another stack. */
const stem = (name: string): string | undefined => /^(.+)-[0-9a-f]{7}$/.exec(name)?.[1];

const plain = (name: string): string => name.normalize("NFC").trim();

const keysOf: readonly (readonly [MatchedBy, (side: ComparedSide) => string | undefined])[] = [
  ["name", ({ name }) => plain(name) || undefined],
  ["logical name", ({ logicalName }) => logicalName],
  ["automatic name", ({ name }) => stem(plain(name))],
];

class Matching {
  readonly pairs: MatchedPair[] = [];
  readonly #free: { readonly a: Set<ComparedSide>; readonly b: Set<ComparedSide> };

  constructor(a: readonly ComparedSide[], b: readonly ComparedSide[]) {
    this.#free = { a: new Set(a), b: new Set(b) };
  }

  free(side: "a" | "b", definition?: Definition): readonly ComparedSide[] {
    const all = [...this.#free[side]];
    return definition ? all.filter((each) => each.definition.kind === definition.kind) : all;
  }

  pair(a: ComparedSide, b: ComparedSide, by: MatchedBy): void {
    this.#free.a.delete(a);
    this.#free.b.delete(b);
    this.pairs.push({ a, b, by });
  }

  /** Pairs what fits each other; of several the first that is the same in all else. */
  pairWhere(
    definition: Definition,
    by: MatchedBy,
    fits: (a: ComparedSide, b: ComparedSide) => boolean,
  ): void {
    for (const a of this.free("a", definition)) {
      const candidates = this.free("b", definition).filter((b) => fits(a, b));
      const same = candidates.find((b) => this.#isSame(a, b));
      const found = same ?? candidates[0];
      if (found) this.pair(a, found, by);
    }
  }

  #isSame(a: ComparedSide, b: ComparedSide): boolean {
    const { fields } = a.definition;
    const [left, right] = linkedFields(a, b, this.pairs);
    return sameFieldsMeaning(fields, left, right) && sameFieldsMeaning(fields, right, left);
  }
}

const withoutName = ({ definition, fields }: ComparedSide) => {
  const { [naturalKey(definition)]: _, ...rest } = fields;
  return rest;
};

const hasReferences = ({ definition, fields }: ComparedSide): boolean =>
  referencesIn(definition.fields, fields).length > 0;

/** Whether two objects refer to the same things and are the same in all but their names. */
const haveSameShape = (
  a: ComparedSide,
  b: ComparedSide,
  pairs: readonly MatchedPair[],
): boolean => {
  const [left, right] = linkedFields(
    { ...a, fields: withoutName(a) },
    { ...b, fields: withoutName(b) },
    pairs,
  );
  const { fields } = a.definition;
  return (
    hasReferences(a) &&
    hasReferences(b) &&
    sameFieldsMeaning(fields, left, right) &&
    sameFieldsMeaning(fields, right, left)
  );
};

/**
 * Finds the same objects on two sides, never by their ids: by the name that people know them by, by the
 * logical name of a program, by an automatic name without its suffix, and last by what they refer to.
 * What others refer to comes first, so that references can be followed.
 */
export const matchedObjects = (a: ComparedAccount, b: ComparedAccount): MatchedObjects => {
  const matching = new Matching(a.objects, b.objects);
  for (const definition of setUpOrder(resources)) {
    for (const [by, keyOf] of keysOf)
      matching.pairWhere(definition, by, (one, other) => {
        const key = keyOf(one);
        return key !== undefined && key === keyOf(other);
      });
    matching.pairWhere(definition, "references", (one, other) =>
      haveSameShape(one, other, matching.pairs),
    );
  }
  return { pairs: matching.pairs, onlyInA: matching.free("a"), onlyInB: matching.free("b") };
};
