import { blastRadiusLines } from "../stack/blast-radius-report.js";
import { indented, withCount, wrapped } from "../terminal/columns.js";
import type { ChangedObject, DriftChange, DriftResult, UncheckableSecrets } from "./drift.js";
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

const fewAlike = 3;

/** `roles[].headers.X-Key`: the same field of every object. */
const fieldOf = (path: string): string => path.replaceAll(/\[[^[\]]*\]/g, "[]");

/** Objects that somebody has touched since one by one; of the others as many as can be read. */
const uncheckableLines = (objects: readonly UncheckableSecrets[]): readonly string[] => {
  const one = (each: UncheckableSecrets) =>
    indented(
      `${titleOf(each)}: ${each.paths.join(", ")}${each.changedSince ? `; the object was changed ${each.changedSince}` : ""}`,
      2,
    );
  const untouched = objects.filter(({ changedSince }) => !changedSince);
  const alike = [...Map.groupBy(untouched, ({ kind }) => kind)].flatMap(([kind, group]) => {
    if (group.length <= fewAlike) return group.flatMap(one);
    const fields = [...new Set(group.flatMap(({ paths }) => paths.map(fieldOf)))];
    return listed(fields, (field) => {
      const count = group.filter(({ paths }) => paths.some((path) => fieldOf(path) === field));
      return indented(`${kind}: ${field} of ${withCount(count.length, "object")}`, 2);
    });
  });
  return [
    ...listed(
      objects.filter(({ changedSince }) => changedSince),
      one,
    ),
    ...alike,
  ];
};

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
      uncheckableLines(uncheckable),
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
