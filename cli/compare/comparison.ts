import type { z } from "zod";
import { changesOf } from "../../provider/definition/changes.js";
import { naturalKey } from "../../provider/definition/references.js";
import type { Printed } from "../printed.js";
import { veiledIn } from "../stack/stack-export.js";
import type { ComparedAccount, ComparedSide } from "./compared-account.js";
import type {
  comparisonSchema,
  differentSchema,
  oneSidedSchema,
  sideDifferenceSchema,
} from "./comparison-schema.js";
import { type Links, linkedFields } from "./linked-fields.js";
import { type MatchedPair, matchedObjects } from "./matched-objects.js";
import { nameStem, plainName } from "./neighbours.js";

/** A field that means something else on the two sides. */
export type SideDifference = Printed<z.output<typeof sideDifferenceSchema>>;

/** An object that is on one side only. */
export type OneSided = Printed<z.output<typeof oneSidedSchema>>;

/** An object that is on both sides, and not the same. */
export type DifferentObject = Printed<z.output<typeof differentSchema>>;

/** What differs between two accounts. */
export type Comparison = Printed<z.output<typeof comparisonSchema>>;

const secretNote = "Secrets are not compared.";

/** Automatic names end in another suffix in each stack. */
const haveSameStem = ({ a, b }: MatchedPair): boolean => {
  const [one, other] = [a, b].map(({ name }) => nameStem(plainName(name)));
  return one !== undefined && one === other;
};

const differencesOf = (pair: MatchedPair, links: Links): readonly SideDifference[] => {
  const { a, b } = pair;
  const { definition } = a;
  const shown = veiledIn([...(a.sealed ?? []), ...(b.sealed ?? [])]);
  const [left, right] = linkedFields(a, b, links);
  const forward = changesOf(definition.fields, left, right).map(
    ({ path, from, to }): SideDifference => ({
      path,
      ...(from === undefined ? {} : { a: shown(path, from) }),
      ...(to === undefined ? {} : { b: shown(path, to) }),
    }),
  );
  const known = new Set(forward.map(({ path }) => path));
  const backward = changesOf(definition.fields, right, left).flatMap(
    ({ path, from, to }): readonly SideDifference[] =>
      known.has(path) || from !== undefined
        ? []
        : [{ path, ...(to === undefined ? {} : { a: shown(path, to) }) }],
  );
  const isSameName = haveSameStem(pair);
  return [...forward, ...backward].filter(
    ({ path }) => !(isSameName && path === naturalKey(definition)),
  );
};

const oneSided = ({ definition, name, id }: ComparedSide): OneSided => ({
  ...{ kind: definition.kind, name, id },
});

const unreadIn = (side: "a" | "b", { unread = [] }: ComparedAccount): Comparison["unread"] =>
  unread.map((kind) => ({ side, kind }));

/** Whether something was found to differ, whatever could not be read. */
export const isDifferent = ({ different, onlyInA, onlyInB }: Comparison): boolean =>
  different.length + onlyInA.length + onlyInB.length > 0;

/** Compares two accounts by meaning: objects by what they are known by, references by where they lead. */
export const comparison = (a: ComparedAccount, b: ComparedAccount): Comparison => {
  const { pairs, links, onlyInA, onlyInB } = matchedObjects(a, b);
  const different = pairs.flatMap((pair): readonly DifferentObject[] => {
    const differences = differencesOf(pair, links);
    if (differences.length === 0) return [];
    const { definition, name, id } = pair.a;
    return [
      {
        ...{ kind: definition.kind, name, idA: id, idB: pair.b.id },
        ...{ matchedBy: pair.by, differences },
      },
    ];
  });
  const unread = [...unreadIn("a", a), ...unreadIn("b", b)];
  return {
    ...{ a: a.title, b: b.title },
    same: different.length + onlyInA.length + onlyInB.length + unread.length === 0,
    matched: pairs.length,
    different,
    onlyInA: onlyInA.map(oneSided),
    onlyInB: onlyInB.map(oneSided),
    unread,
    notes: [...a.notes, ...b.notes, secretNote],
  };
};
