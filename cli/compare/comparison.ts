import { naturalKey } from "../../provider/definition/references.js";
import { changesOf } from "../../provider/definition/wire/changes.js";
import type { ComparedAccount, ComparedSide } from "./compared-account.js";
import { linkedFields } from "./linked-fields.js";
import { type MatchedBy, type MatchedPair, matchedObjects } from "./matched-objects.js";

/** A field that means something else on the two sides. */
export interface SideDifference {
  /** As a program would write it, such as `roles[custom_bot].callback`. */
  readonly path: string;
  /** Short JSON text; left out where that side has nothing. References are `Kind name`. */
  readonly a?: string;
  readonly b?: string;
}

/** An object that is on one side only. */
export interface OneSided {
  readonly kind: string;
  readonly name: string;
  readonly id: string;
}

/** An object that is on both sides, and not the same. */
export interface DifferentObject {
  readonly kind: string;
  readonly name: string;
  readonly idA: string;
  readonly idB: string;
  readonly matchedBy: MatchedBy;
  readonly differences: readonly SideDifference[];
}

/** What differs between two accounts. */
export interface Comparison {
  readonly a: string;
  readonly b: string;
  readonly same: boolean;
  /** Objects found on both sides. */
  readonly matched: number;
  readonly different: readonly DifferentObject[];
  readonly onlyInA: readonly OneSided[];
  readonly onlyInB: readonly OneSided[];
  readonly notes: readonly string[];
}

const secretNote = "Secrets are not compared.";

const differencesOf = (
  { a, b, by }: MatchedPair,
  pairs: readonly MatchedPair[],
): readonly SideDifference[] => {
  const { definition } = a;
  const [left, right] = linkedFields(a, b, pairs);
  const forward = changesOf(definition.fields, left, right).map(
    ({ path, from, to }): SideDifference => ({
      path,
      ...(from === undefined ? {} : { a: from }),
      ...(to === undefined ? {} : { b: to }),
    }),
  );
  const known = new Set(forward.map(({ path }) => path));
  const backward = changesOf(definition.fields, right, left).flatMap(
    ({ path, from, to }): readonly SideDifference[] =>
      known.has(path) || from !== undefined
        ? []
        : [{ path, ...(to === undefined ? {} : { a: to }) }],
  );
  // Automatic names end in another suffix in each stack.
  const isSameName = by === "automatic name";
  return [...forward, ...backward].filter(
    ({ path }) => !(isSameName && path === naturalKey(definition)),
  );
};

const oneSided = ({ definition, name, id }: ComparedSide): OneSided => ({
  ...{ kind: definition.kind, name, id },
});

/** Compares two accounts by meaning: objects by what they are known by, references by where they lead. */
export const comparison = (a: ComparedAccount, b: ComparedAccount): Comparison => {
  const { pairs, onlyInA, onlyInB } = matchedObjects(a, b);
  const different = pairs.flatMap((pair): readonly DifferentObject[] => {
    const differences = differencesOf(pair, pairs);
    if (differences.length === 0) return [];
    const { definition, name, id } = pair.a;
    return [
      {
        ...{ kind: definition.kind, name, idA: id, idB: pair.b.id },
        ...{ matchedBy: pair.by, differences },
      },
    ];
  });
  return {
    ...{ a: a.title, b: b.title },
    same: different.length + onlyInA.length + onlyInB.length === 0,
    matched: pairs.length,
    different,
    onlyInA: onlyInA.map(oneSided),
    onlyInB: onlyInB.map(oneSided),
    notes: [...a.notes, ...b.notes, secretNote],
  };
};
