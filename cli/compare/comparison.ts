import { z } from "zod";
import { nameStem } from "../../provider/definition/automatic-name.js";
import { changesOf } from "../../provider/definition/changes.js";
import { naturalKey } from "../../provider/definition/kinds.js";
import type { Printed } from "../../provider/kernel/json.js";
import type { AccountOptions } from "../inventory/open-account.js";
import { veiledIn } from "../pulumi/stack-documents.js";
import { indented, wrapped } from "../terminal/columns.js";
import { textReport, titled } from "../terminal/report.js";
import { type MatchedPair, matchObjects, plainName } from "./matching.js";
import { type ComparableObject, type ComparedSide, sideReader } from "./sources.js";

const sideDifferenceSchema = z.strictObject({
  path: z.string().describe("The path in a program, such as roles[custom_bot].callback"),
  a: z
    .exactOptional(z.string())
    .describe(
      "Short JSON text, with references shown as kind and name; absent if there is no value",
    ),
  b: z.exactOptional(z.string()),
});

const differentSchema = z.strictObject({
  kind: z.string(),
  name: z.string(),
  idA: z.string(),
  idB: z.string(),
  matchedBy: z.enum(["name", "logical name"]),
  differences: z.array(sideDifferenceSchema),
});

const oneSidedSchema = z.strictObject({ kind: z.string(), name: z.string(), id: z.string() });

/** Shape of what `compare --json` prints. */
export const comparisonSchema = z.strictObject({
  a: z.string(),
  b: z.string(),
  same: z.boolean().describe("True if nothing differs and both sides were read completely"),
  matched: z.int().min(0).describe("Number of objects that are on both sides"),
  different: z.array(differentSchema),
  onlyInA: z.array(oneSidedSchema),
  onlyInB: z.array(oneSidedSchema),
  unread: z
    .array(z.strictObject({ side: z.enum(["a", "b"]), kind: z.string() }))
    .describe(
      "Kinds that could not be read completely on one side; objects found only on the other side are omitted",
    ),
  consistent: z.boolean().describe("False if an account changed while the command was reading it"),
  notes: z.array(z.string()),
});

/** What differs between two accounts. */
type Comparison = Printed<z.output<typeof comparisonSchema>>;

type SideDifference = Comparison["different"][number]["differences"][number];

const findDifferences = (
  { a, b }: MatchedPair,
  linkedFields: ReturnType<typeof matchObjects>["linkedFields"],
): readonly SideDifference[] => {
  const { definition } = a;
  const shown = veiledIn([...(a.sealed ?? []), ...(b.sealed ?? [])]);
  const valueIn = (side: "a" | "b", path: string, value: string | undefined) =>
    value === undefined ? {} : { [side]: shown(path, value) };
  const [left, right] = linkedFields(a, b);
  const forward = changesOf(definition.fields, left, right).map(
    ({ path, from, to }): SideDifference => ({
      path,
      ...valueIn("a", path, from),
      ...valueIn("b", path, to),
    }),
  );
  const backward = changesOf(definition.fields, right, left).flatMap(
    ({ path, from, to }): readonly SideDifference[] =>
      from === undefined ? [{ path, ...valueIn("a", path, to) }] : [],
  );
  // Automatic names end in another suffix in each stack.
  const [stem, other] = [a, b].map(({ name }) => nameStem(plainName(name)));
  const isSameName = stem !== undefined && stem === other;
  return [...forward, ...backward].filter(
    ({ path }) => !(isSameName && path === naturalKey(definition)),
  );
};

const shownName = (object: ComparableObject, other?: ComparableObject): string => {
  const sealed = [object, other].flatMap((each) => each?.sealed ?? []);
  return veiledIn(sealed)(naturalKey(object.definition), object.name);
};

const oneSided = (object: ComparableObject) => ({
  kind: object.definition.kind,
  name: shownName(object),
  id: object.id,
});

const unreadIn = (side: "a" | "b", { unread = [] }: ComparedSide): Comparison["unread"] =>
  unread.map((kind) => ({ side, kind }));

/** Whether something was found to differ, regardless of what could not be read. */
export const isDifferent = ({ different, onlyInA, onlyInB }: Comparison): boolean =>
  different.length + onlyInA.length + onlyInB.length > 0;

/** Compares two accounts by meaning: objects by their names, references by their targets. */
export const comparison = (a: ComparedSide, b: ComparedSide): Comparison => {
  const { pairs, linkedFields, onlyInA, onlyInB } = matchObjects(a, b);
  const different = pairs.flatMap((pair) => {
    const differences = findDifferences(pair, linkedFields);
    const { definition, id } = pair.a;
    const name = shownName(pair.a, pair.b);
    const ids = { idA: id, idB: pair.b.id };
    return differences.length === 0
      ? []
      : [{ kind: definition.kind, name, ...ids, matchedBy: pair.by, differences }];
  });
  const unread = [...unreadIn("a", a), ...unreadIn("b", b)];
  const consistent = [a, b].every((side) => side.consistent !== false);
  return {
    ...{ a: a.title, b: b.title },
    same: different.length + onlyInA.length + onlyInB.length + unread.length === 0 && consistent,
    matched: pairs.length,
    different,
    onlyInA: onlyInA.map(oneSided),
    onlyInB: onlyInB.map(oneSided),
    ...{ unread, consistent },
    notes: [...a.notes, ...b.notes, "Secrets are not compared."],
  };
};

/**
 * Compares two sides. Next to a stack, live accounts are those of that stack's settings.
 *
 * @throws CommandFailure if a side cannot be found or read
 */
export const runCompare = async (
  a: string,
  b: string,
  options: AccountOptions,
): Promise<Comparison> => {
  const named = [a, b].flatMap((side) => /^stack:(.+)$/.exec(side)?.[1] ?? []);
  const asked = { ...options, stack: options.stack ?? named[0] };
  const [readA, readB] = [sideReader(a), sideReader(b)];
  return comparison(await readA(asked), await readB(asked));
};

const shownValue = (value: string | undefined): string => value ?? "nothing";

const oneSidedBlock = (title: string, objects: Comparison["onlyInA"]) =>
  titled(
    title,
    objects.flatMap(({ kind, name, id }) => indented(`${kind} "${name}" (ID ${id})`, 2)),
  );

export const compareReport = (result: Comparison): string => {
  const { a, b, same, matched, different, onlyInA, onlyInB, unread, notes } = result;
  const count = `${matched} ${matched === 1 ? "object is" : "objects are"} on both sides`;
  return textReport(
    [...wrapped(`A: ${a}`, 80), ...wrapped(`B: ${b}`, 80)],
    [
      !isDifferent(result)
        ? `No difference${same ? "" : " in the kinds that could be read"}: ${count}.`
        : `${count}, ${different.length} of them different; ${onlyInA.length} only in A, ${onlyInB.length} only in B.`,
    ],
    ...different.map(({ kind, name, matchedBy, differences }) => [
      ...indented(
        `${kind} "${name}"${matchedBy === "name" ? "" : ` (matched by ${matchedBy})`}`,
        2,
      ),
      ...differences.flatMap((each) => [
        ...indented(`${each.path}:`, 4),
        ...indented(`A: ${shownValue(each.a)}`, 6),
        ...indented(`B: ${shownValue(each.b)}`, 6),
      ]),
    ]),
    ...oneSidedBlock("Only in A:", onlyInA),
    ...oneSidedBlock("Only in B:", onlyInB),
    unread.flatMap(({ side, kind }) =>
      wrapped(
        `The command could not read every ${kind} in ${side.toUpperCase()}, so it omits those that are only on the other side.`,
        80,
      ),
    ),
    notes.flatMap((note) => wrapped(note, 80)),
  );
};
