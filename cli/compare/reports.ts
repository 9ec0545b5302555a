import {
  codeSpan,
  foldedLines,
  indented,
  markdownTable,
  withCount,
  wrapped,
} from "../../provider/kernel/columns.js";
import { blastRadiusLines } from "../stack/blast-radius-report.js";
import { type Comparison, isDifferent, type OneSided, type SideDifference } from "./comparison.js";
import type { ChangedObject, DriftChange, DriftResult, UncheckableSecrets } from "./schemas.js";

/** What was found, in one sentence. */
const driftSummary = (result: DriftResult): string => {
  const { project, stack, changed, deleted, unmanaged, unread, compared } = result;
  const name = `${project}/${stack}`;
  const of = `${withCount(compared, "object")} of ${name} compared`;
  const found = [
    ...(changed.length > 0 ? [`${changed.length} changed outside`] : []),
    ...(deleted.length > 0 ? [`${deleted.length} deleted outside`] : []),
    ...(unmanaged.length > 0 ? [`${unmanaged.length} in no stack`] : []),
  ];
  const missing =
    unread.length > 0 ? `; ${withCount(unread.length, "kind")} could not be read` : "";
  return found.length === 0
    ? `No drift: ${of}${missing}.`
    : `Drift: ${found.join(", ")}; ${of}${missing}.`;
};

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

/** The hosts of pull requests take comments of about 65,000 characters. */
const mostRows = 100;
const table = (heading: readonly string[], rows: readonly (readonly string[])[]): string[] => [
  ...markdownTable(heading, rows.slice(0, mostRows)),
  ...(rows.length > mostRows
    ? ["", `… and ${rows.length - mostRows} more: \`pulumi-conversation drift --json\``]
    : []),
];

const markdownSection = (
  title: string,
  heading: readonly string[],
  rows: readonly (readonly string[])[],
): string[] => (rows.length === 0 ? [] : ["", `### ${title}`, "", ...table(heading, rows)]);

const objectCell = ({ kind, name }: Pick<ChangedObject, "kind" | "name">): string =>
  `${kind} ${codeSpan(name)}`;

const valueCell = (value: string | undefined): string =>
  value === undefined ? "–" : codeSpan(value);

const changeCells = (object: ChangedObject, { path, state, live }: DriftChange) => [
  objectCell(object),
  codeSpan(path),
  valueCell(state),
  valueCell(live),
  codeSpan(object.who),
];

/** Marks the comment, so that the next run finds it and writes over it. */
export const driftMarker = ({ project, stack }: Pick<DriftResult, "project" | "stack">): string =>
  `<!-- pulumi-conversation drift ${project}/${stack} -->`;

/** What differs, as a comment on a pull request. The first line is always the same for a stack. */
export const driftMarkdown = (result: DriftResult): string => {
  const { changed, deleted, unmanaged, otherStacks, uncheckable, unread, notes } = result;
  const lines = [
    driftMarker(result),
    `## ${result.drift ? "⚠️ Drift" : "✅ No drift"}: ${codeSpan(`${result.project}/${result.stack}`)}`,
    "",
    driftSummary(result),
    ...markdownSection(
      "Changed outside",
      ["Object", "Field", "State", "Live", "By"],
      changed.flatMap((object) => object.changes.map((change) => changeCells(object, change))),
    ),
    ...markdownSection(
      "Deleted outside",
      ["Object", "Id", "By"],
      deleted.map((object) => [objectCell(object), codeSpan(object.id), codeSpan(object.who)]),
    ),
    ...markdownSection(
      "In no stack",
      ["Object", "Id", "Standing"],
      unmanaged.map((object) => [objectCell(object), codeSpan(object.id), object.standing]),
    ),
    ...markdownSection(
      "Could not be read",
      ["Kind", "Why"],
      unread.map(({ kind, problem }) => [kind, codeSpan(problem)]),
    ),
    ...foldedLines(
      `${otherStacks.length} of other stacks`,
      otherStacks.length === 0
        ? []
        : table(
            ["Object", "Stack"],
            otherStacks.map((object) => [objectCell(object), codeSpan(object.stack)]),
          ),
    ),
    ...foldedLines(
      "Secrets that are hidden, kept in the environment or not read by an import: nobody can tell",
      uncheckable.length === 0
        ? []
        : table(
            ["Object", "Fields", "Object changed since"],
            uncheckable.map((object) => [
              objectCell(object),
              object.paths.map(codeSpan).join(", "),
              valueCell(object.changedSince),
            ]),
          ),
    ),
    ...markdownSection(
      "Deletions that will be refused",
      ["Object", "Id", "Used by"],
      (result.deletions?.blocked ?? []).map((object) => [
        objectCell(object),
        codeSpan(object.id),
        object.users.map((user) => `${objectCell(user)} (${user.managed})`).join(", "),
      ]),
    ),
    ...(notes.length > 0 ? ["", ...notes.map((note) => `- ${codeSpan(note)}`)] : []),
    "",
    `Read at ${result.readAt} by \`pulumi-conversation drift\`.`,
  ];
  return `${lines.join("\n")}\n`;
};

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
