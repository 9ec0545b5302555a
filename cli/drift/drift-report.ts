import { blastRadiusLines } from "../stack/blast-radius-report.js";
import { indented, wrapped } from "../terminal/columns.js";
import type { ChangedObject, DriftChange, DriftResult } from "./drift.js";
import { driftSummary } from "./drift-summary.js";

const width = 80;
const mostListed = 50;

const shown = (value: string | undefined): string => value ?? "nothing";

const changeText = ({ path, state, live }: DriftChange): string =>
  state === "[secret]" && live === "[secret]"
    ? `${path}: another value (secret)`
    : `${path}: ${shown(state)} in the state, ${shown(live)} live`;

const titleOf = ({ kind, name, id }: Pick<ChangedObject, "kind" | "name" | "id">): string =>
  `${kind} "${name}" (id ${id})`;

/** The first of a list, and how many more there are. */
const listed = <T>(items: readonly T[], linesOf: (item: T) => readonly string[]): string[] => [
  ...items.slice(0, mostListed).flatMap(linesOf),
  ...(items.length > mostListed
    ? [`  … and ${items.length - mostListed} more; --json shows all`]
    : []),
];

const section = (heading: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : ["", heading, "", ...lines];

const standings = {
  foreign: "no stack has it",
  "left-over": "this stack made it, and no state has it",
  copy: "a copy that somebody made of one of ours",
  former: "of a former state of this name",
} as const;

/** What differs, for people, within 80 columns. */
export const driftReport = (result: DriftResult): string => {
  const { changed, deleted, unmanaged, otherStacks, uncheckable, unread, notes, deletions } =
    result;
  const lines = [
    ...wrapped(driftSummary(result), width),
    ...section(
      "Changed outside:",
      listed(changed, (each) => [
        ...indented(titleOf(each), 2),
        ...each.changes.flatMap((change) => indented(changeText(change), 4)),
        ...indented(`by: ${each.who}${each.modified ? ` (changed ${each.modified})` : ""}`, 4),
      ]),
    ),
    ...section(
      "Deleted outside:",
      listed(deleted, (each) => [
        ...indented(titleOf(each), 2),
        ...indented(`by: ${each.who}`, 4),
        ...(each.sameName ? indented(`its name is that of ${each.sameName} now`, 4) : []),
      ]),
    ),
    ...section(
      "In no stack:",
      listed(unmanaged, (each) => indented(`${titleOf(each)}: ${standings[each.standing]}`, 2)),
    ),
    ...section(
      "Of other stacks (no drift):",
      listed(otherStacks, (each) => indented(`${titleOf(each)}: ${each.stack}`, 2)),
    ),
    ...section(
      "Cannot be checked (hidden, kept in the environment, or not read by an import):",
      listed(uncheckable, (each) =>
        indented(
          `${titleOf(each)}: ${each.paths.join(", ")}${each.changedSince ? `; the object was changed ${each.changedSince}` : ""}`,
          2,
        ),
      ),
    ),
    ...section(
      "Could not be read:",
      listed(unread, ({ kind, problem }) => indented(`${kind}: ${problem}`, 2)),
    ),
    ...section(
      "Notes:",
      listed(notes, (note) => indented(note, 2)),
    ),
    ...advice(result),
    ...(deletions ? ["", ...blastRadiusLines(deletions)] : []),
  ];
  return `${lines.join("\n").trimEnd()}\n`;
};

const advice = ({ changed, deleted, unmanaged }: DriftResult): readonly string[] => [
  ...(changed.length + deleted.length > 0
    ? [
        "",
        ...wrapped(
          "To put the program's values back: pulumi refresh, then pulumi up. To keep what was changed, write it into the program first.",
          width,
        ),
      ]
    : []),
  ...(unmanaged.length > 0
    ? ["", ...wrapped("To manage what is in no stack, adopt it in a program (adopt: true).", width)]
    : []),
];
