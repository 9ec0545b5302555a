import { type AskedStack, sameStack, sameStackCommand } from "../command.js";
import { codeSpan, indented, withCount, wrapped } from "../terminal/columns.js";
import {
  type Block,
  type Foreign,
  listed,
  type ReportSection,
  sectionBlocks,
  sectionMarkdown,
  textReport,
  titled,
} from "../terminal/report.js";
import type { DriftResult } from "./drift.js";

interface Named {
  readonly kind: string;
  readonly name: string;
  readonly id: string;
}

const foreign = (text: string): Foreign => ({ foreign: text });

const shown = (value: string | undefined): string => value ?? "nothing";

const titleOf = ({ kind, name, id }: Named): string => `${kind} "${name}" (ID ${id})`;

const cellOf = ({ kind, name }: Pick<Named, "kind" | "name">) => [`${kind} `, foreign(name)];

const valueCell = (value: string | undefined) => (value === undefined ? "–" : foreign(value));

const driftSummary = (result: DriftResult): string => {
  const { project, stack, changed, deleted, unmanaged, unread, compared } = result;
  const of = `${withCount(compared, "object")} of ${project}/${stack} compared`;
  const found = [
    ...(changed.length > 0 ? [`${changed.length} changed outside Pulumi`] : []),
    ...(deleted.length > 0 ? [`${deleted.length} not found`] : []),
    ...(unmanaged.length > 0 ? [`${unmanaged.length} in no stack`] : []),
  ];
  const kinds = new Set(unread.map(({ kind }) => kind)).size;
  const missing = kinds > 0 ? `; ${withCount(kinds, "kind")} read incompletely` : "";
  return found.length === 0
    ? `No drift: ${of}${missing}.`
    : `Drift: ${found.join(", ")}; ${of}${missing}.`;
};

const standings = {
  foreign: "no mark",
  leftover: "created by a stack of the backend, but in no state",
  copy: "a copy of a stack's object, made by a person",
  former: "from a former state with this stack's name",
} as const;

const sectionsOf = (result: DriftResult): readonly ReportSection[] => [
  {
    title: "Changed outside Pulumi",
    lines: listed(result.changed, (each) => [
      ...indented(titleOf(each), 2),
      ...each.changes.flatMap(({ path, state, live }) =>
        indented(`${path}: ${shown(state)} in the state, ${shown(live)} live`, 4),
      ),
      ...indented(`by: ${each.who}${each.modified ? ` (changed at ${each.modified})` : ""}`, 4),
    ]),
    columns: ["Object", "Field", "State", "Live", "By"],
    rows: result.changed.flatMap((each) =>
      each.changes.map(({ path, state, live }) => [
        ...[cellOf(each), foreign(path), valueCell(state), valueCell(live), foreign(each.who)],
      ]),
    ),
  },
  {
    title: "Not found",
    lines: listed(result.deleted, (each) => [
      ...indented(titleOf(each), 2),
      ...indented(`by: ${each.who}`, 4),
    ]),
    columns: ["Object", "ID", "By"],
    rows: result.deleted.map((each) => [cellOf(each), foreign(each.id), foreign(each.who)]),
  },
  {
    title: "In no stack",
    lines: listed(result.unmanaged, (each) =>
      indented(`${titleOf(each)}: ${standings[each.standing]}`, 2),
    ),
    columns: ["Object", "ID", "Standing"],
    rows: result.unmanaged.map((each) => [cellOf(each), foreign(each.id), each.standing]),
  },
  {
    title: "Objects in other stacks (not drift)",
    lines: listed(result.otherStacks, (each) => indented(`${titleOf(each)}: ${each.stack}`, 2)),
    columns: ["Object", "Stack"],
    rows: result.otherStacks.map((each) => [cellOf(each), foreign(each.stack)]),
    folded: `Objects in other stacks: ${result.otherStacks.length}`,
  },
];

const elsewhereAdvice =
  "If the settings point to another service, correct baseUrl, or create a separate stack for this service: pulumi stack init. If the objects were deleted, pulumi up --refresh recreates them.";

const advice = (
  { changed, deleted, unmanaged }: DriftResult,
  asked: AskedStack,
): readonly Block[] => [
  deleted.some(({ elsewhere }) => elsewhere) ? wrapped(elsewhereAdvice, 80) : [],
  changed.length > 0 || deleted.some(({ elsewhere }) => !elsewhere)
    ? wrapped(
        `To restore the program's values, run pulumi refresh${sameStack(asked)}, and then pulumi up${sameStack(asked)}. To keep the changes, write them into the program first.`,
        80,
      )
    : [],
  unmanaged.length > 0
    ? wrapped(
        "To manage an object that belongs to no stack, adopt it in a program (adopt: true).",
        80,
      )
    : [],
];

export const driftReport = (result: DriftResult, asked: AskedStack): string =>
  textReport(
    wrapped(driftSummary(result), 80),
    ...sectionBlocks(sectionsOf(result)),
    ...titled(
      "Notes:",
      listed(result.notes, (note) => indented(note, 2)),
    ),
    ...advice(result, asked),
  );

/**
 * The differences, as a comment on a pull request. The first line is always the same for a stack.
 */
export const driftMarkdown = (result: DriftResult, asked: AskedStack): string => {
  const name = codeSpan(`${result.project}/${result.stack}`);
  const lines = [
    // By this, the next run finds the comment and overwrites it.
    `<!-- pulumi-conversation drift ${result.project}/${result.stack} -->`,
    `## ${result.drift ? "⚠️ Drift" : "✅ No drift"}: ${name}`,
    "",
    driftSummary(result),
    ...sectionMarkdown(sectionsOf(result), sameStackCommand("drift --json", asked)),
    ...(result.notes.length > 0 ? ["", ...result.notes.map((note) => `- ${codeSpan(note)}`)] : []),
    "",
    `Read at ${result.readAt} by \`pulumi-conversation drift\`.`,
  ];
  return `${lines.join("\n")}\n`;
};
