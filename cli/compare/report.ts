import { indented, wrapped } from "../terminal/columns.js";
import { textReport, titled } from "../terminal/report.js";
import { type Comparison, isDifferent, type OneSided, type SideDifference } from "./comparison.js";

const shown = (value: string | undefined): string => value ?? "nothing";

const oneSided = (title: string, objects: readonly OneSided[]) =>
  titled(
    title,
    objects.flatMap(({ kind, name, id }) => indented(`${kind} "${name}" (ID ${id})`, 2)),
  );

const differenceLines = ({ path, a, b }: SideDifference): readonly string[] => [
  ...indented(`${path}:`, 4),
  ...indented(`A: ${shown(a)}`, 6),
  ...indented(`B: ${shown(b)}`, 6),
];

/** The differences between two accounts, for people, within 80 columns. */
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
      ...differences.flatMap(differenceLines),
    ]),
    ...oneSided("Only in A:", onlyInA),
    ...oneSided("Only in B:", onlyInB),
    unread.flatMap(({ side, kind }) =>
      wrapped(
        `The command could not read every ${kind} in ${side.toUpperCase()}, so it omits those that are only on the other side.`,
        80,
      ),
    ),
    notes.flatMap((note) => wrapped(note, 80)),
  );
};
