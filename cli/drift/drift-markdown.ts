import type { ChangedObject, DriftChange, DriftResult } from "./drift.js";
import { driftSummary } from "./drift-summary.js";

/** The hosts of pull requests take comments of about 65,000 characters. */
const mostRows = 100;
const longestCell = 300;

/**
 * A text as code in a cell of a table: nothing in it is taken for markup, for a mention or for the end of the
 * cell, whatever somebody has called an object.
 */
export const codeCell = (text: string): string => {
  const plain = [...text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")].slice(0, longestCell).join("");
  const fences = plain.match(/`+/g) ?? [];
  const fence = "`".repeat(Math.max(0, ...fences.map(({ length }) => length)) + 1);
  const edge = fences.length > 0 || plain.trim() === "" || plain.trim() !== plain ? " " : "";
  // Before a bar the number of backslashes must stay odd: two of them stand for one, and the bar ends the cell.
  const barred = plain.replaceAll(/(\\*)\|/g, (_, before: string) => `${before}${before}\\|`);
  return `${fence}${edge}${barred}${edge}${fence}`;
};

const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

const table = (heading: readonly string[], rows: readonly (readonly string[])[]): string[] => [
  row(heading),
  row(heading.map(() => "---")),
  ...rows.slice(0, mostRows).map(row),
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
  `${kind} ${codeCell(name)}`;

const valueCell = (value: string | undefined): string =>
  value === undefined ? "–" : codeCell(value);

const changeCells = (object: ChangedObject, { path, state, live }: DriftChange) => [
  objectCell(object),
  codeCell(path),
  valueCell(state),
  valueCell(live),
  codeCell(object.who),
];

const folded = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0
    ? []
    : ["", `<details><summary>${title}</summary>`, "", ...lines, "", "</details>"];

/** Marks the comment, so that the next run finds it and writes over it. */
export const driftMarker = ({ project, stack }: Pick<DriftResult, "project" | "stack">): string =>
  `<!-- pulumi-conversation drift ${project}/${stack} -->`;

/** What differs, as a comment on a pull request. The first line is always the same for a stack. */
export const driftMarkdown = (result: DriftResult): string => {
  const { changed, deleted, unmanaged, otherStacks, uncheckable, unread, notes } = result;
  const lines = [
    driftMarker(result),
    `## ${result.drift ? "⚠️ Drift" : "✅ No drift"}: ${codeCell(`${result.project}/${result.stack}`)}`,
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
      deleted.map((object) => [objectCell(object), codeCell(object.id), codeCell(object.who)]),
    ),
    ...section(
      "In no stack",
      ["Object", "Id", "Standing"],
      unmanaged.map((object) => [objectCell(object), codeCell(object.id), object.standing]),
    ),
    ...section(
      "Could not be read",
      ["Kind", "Why"],
      unread.map(({ kind, problem }) => [kind, codeCell(problem)]),
    ),
    ...folded(
      `${otherStacks.length} of other stacks`,
      otherStacks.length === 0
        ? []
        : table(
            ["Object", "Stack"],
            otherStacks.map((object) => [objectCell(object), codeCell(object.stack)]),
          ),
    ),
    ...folded(
      "Secrets that are hidden, kept in the environment or not read by an import: nobody can tell",
      uncheckable.length === 0
        ? []
        : table(
            ["Object", "Fields", "Object changed since"],
            uncheckable.map((object) => [
              objectCell(object),
              object.paths.map(codeCell).join(", "),
              valueCell(object.changedSince),
            ]),
          ),
    ),
    ...section(
      "Deletions that will be refused",
      ["Object", "Id", "Used by"],
      (result.deletions?.blocked ?? []).map((object) => [
        objectCell(object),
        codeCell(object.id),
        object.users.map((user) => `${objectCell(user)} (${user.managed})`).join(", "),
      ]),
    ),
    ...(notes.length > 0 ? ["", ...notes.map((note) => `- ${codeCell(note)}`)] : []),
    "",
    `Read at ${result.readAt} by \`pulumi-conversation drift\`.`,
  ];
  return `${lines.join("\n")}\n`;
};
