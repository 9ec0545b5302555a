import { indented, wrapped } from "../terminal/columns.js";
import { type Comparison, isDifferent, type OneSided, type SideDifference } from "./comparison.js";

const width = 80;

const shown = (value: string | undefined): string => value ?? "nothing";

const oneSided = (heading: string, objects: readonly OneSided[]): readonly string[] =>
  objects.length === 0
    ? []
    : [
        "",
        ...wrapped(heading, width),
        "",
        ...objects.flatMap(({ kind, name, id }) => indented(`${kind} "${name}" (id ${id})`, 2)),
      ];

const differenceLines = ({ path, a, b }: SideDifference): readonly string[] => [
  ...indented(`${path}:`, 4),
  ...indented(`A: ${shown(a)}`, 6),
  ...indented(`B: ${shown(b)}`, 6),
];

const unreadLines = ({ unread }: Comparison): readonly string[] => [
  ...(unread.length > 0 ? [""] : []),
  ...unread.flatMap(({ side, kind }) =>
    wrapped(
      `Not all of ${kind} could be read in ${side.toUpperCase()}: what only the other side has of it is not told.`,
      width,
    ),
  ),
];

/** What differs, for people, within 80 columns. */
export const compareReport = (result: Comparison): string => {
  const { a, b, same, matched, different, onlyInA, onlyInB, notes } = result;
  const count = `${matched} ${matched === 1 ? "object is" : "objects are"} on both sides`;
  const lines = [
    ...wrapped(`A: ${a}`, width),
    ...wrapped(`B: ${b}`, width),
    "",
    !isDifferent(result)
      ? `No difference${same ? "" : " as far as both could be read"}: ${count}.`
      : `${count}, ${different.length} of them different; ${onlyInA.length} only in A, ${onlyInB.length} only in B.`,
    ...different.flatMap((object) => [
      "",
      ...indented(
        `${object.kind} "${object.name}"${object.matchedBy === "name" ? "" : ` (known by its ${object.matchedBy})`}`,
        2,
      ),
      ...object.differences.flatMap(differenceLines),
    ]),
    ...oneSided("Only in A:", onlyInA),
    ...oneSided("Only in B:", onlyInB),
    ...unreadLines(result),
    "",
    ...notes.flatMap((note) => wrapped(note, width)),
  ];
  return `${lines.join("\n")}\n`;
};
