import { codeSpan, foldedLines, markdownTable } from "../terminal/columns.js";
import type { ChangedObject, DriftChange, DriftResult } from "./drift.js";
import { driftSummary } from "./drift-summary.js";

/** The hosts of pull requests take comments of about 65,000 characters. */
const mostRows = 100;
const table = (heading: readonly string[], rows: readonly (readonly string[])[]): string[] => [
  ...markdownTable(heading, rows.slice(0, mostRows)),
  ...(rows.length > mostRows
    ? ["", `… and ${rows.length - mostRows} more: \`pulumi-conversation drift --json\``]
    : []),
];

const section = (
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
    ...section(
      "Changed outside",
      ["Object", "Field", "State", "Live", "By"],
      changed.flatMap((object) => object.changes.map((change) => changeCells(object, change))),
    ),
    ...section(
      "Deleted outside",
      ["Object", "Id", "By"],
      deleted.map((object) => [objectCell(object), codeSpan(object.id), codeSpan(object.who)]),
    ),
    ...section(
      "In no stack",
      ["Object", "Id", "Standing"],
      unmanaged.map((object) => [objectCell(object), codeSpan(object.id), object.standing]),
    ),
    ...section(
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
    ...section(
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
