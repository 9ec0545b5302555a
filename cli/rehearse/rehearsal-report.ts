import { urnParts } from "../../provider/kernel/pulumi.js";
import { durationText } from "../../provider/kernel/text.js";
import { accountTitle } from "../../provider/service/settings.js";
import { textTable, withCount, wrappedText } from "../terminal/columns.js";
import { textReport } from "../terminal/report.js";
import type { NamedObject, Refusal, Rehearsal, RehearsedStep } from "./rehearsal-schema.js";

/** More names of one group are counted, not shown; `--json` has them all. */
const mostNames = 3;
/** More refusals are counted, not shown. */
const mostRefusals = 3;
/** More groups are counted, not shown. */
const mostGroups = 15;

/** The first lines, and the number of the others. */
const some = <T>(
  all: readonly T[],
  most: number,
  shown: (one: T) => readonly string[],
): readonly string[] => {
  const more = all.length - most;
  const lines = all.slice(0, most).flatMap(shown);
  return more > 0 ? [...lines, `  … and ${more} more (--json shows all)`] : lines;
};

/** Things that are equal but for their names, as a row: what they have in common, and the names. */
const groupedRows = <T extends { readonly name: string }>(
  all: readonly T[],
  commonOf: (one: T) => readonly string[],
): readonly (readonly string[])[] =>
  [...Map.groupBy(all, (one) => JSON.stringify(commonOf(one))).values()].map((group) => {
    const names = group.map(({ name }) => name);
    const shown = names.length > mostNames ? `${names.length} resources` : names.join(", ");
    return [...group.slice(0, 1).flatMap(commonOf), shown];
  });

const kindText = ({ kind, profile }: NamedObject): string =>
  profile === undefined ? kind : `${kind} of ${accountTitle(profile)}`;

const stepTable = (steps: readonly RehearsedStep[]): readonly string[] => {
  const rows = groupedRows(steps, (step) => [
    step.operation,
    kindText(step),
    step.properties.join(", "),
  ]);
  const more = rows.length - mostGroups;
  return [
    ...textTable(["What", "Kind", "Changes", "Resources"], rows.slice(0, mostGroups)),
    ...(more > 0 ? [`… and ${more} more (--json shows all)`] : []),
  ];
};

/** Objects or resources, a line for each kind. */
const kindSection = (title: string, all: readonly NamedObject[]): readonly string[] => {
  const lines = groupedRows(all, (one) => [kindText(one)]).map((row) => row.join(": "));
  if (lines.length === 0) return [];
  return [title, ...some(lines, mostGroups, (line) => wrappedText(line, "  - "))];
};

const headline = ({ operation, project, stack, outcome }: Rehearsal): string => {
  const what = `pulumi ${operation} for ${project}/${stack}`;
  const { passes, refusals, steps, calls, totalSeconds } = outcome;
  if (!passes)
    return refusals.some((each) => each.operation === "preview")
      ? `The preview of ${what} will fail.`
      : `${what} will fail: ${withCount(refusals.length, "step")} will be refused.`;
  const made = `${withCount(steps.length, "change")}, ${withCount(calls.length, "call")}`;
  return `${what} will succeed: ${made}, about ${durationText(totalSeconds * 1000)}.`;
};

const refusalLines = ({ operation, kind, name, reason }: Refusal): readonly string[] => [
  ...wrappedText([operation, kind, name].filter(Boolean).join(" "), "✗ "),
  ...wrappedText(reason, "  "),
];

export const rehearsalReport = (rehearsal: Rehearsal): string => {
  const { outcome, notes, plan, parallel } = rehearsal;
  const { passes, refusals, steps, objects, undeclared, leftOut } = outcome;
  const limits = `Plan ${plan}, --parallel ${parallel}. Nothing was written to the service or the state.`;
  const happens = passes ? "What happens:" : "What is not refused, if the run gets there:";
  return textReport(
    [...wrappedText(headline(rehearsal)), limits],
    some(refusals, mostRefusals, refusalLines),
    steps.length === 0 ? [] : [happens, ...stepTable(steps)],
    passes ? [`After the run, the account contains ${withCount(objects, "object")}.`] : [],
    kindSection("In no stack after the run:", undeclared),
    kindSection(
      "Not run because they may reach beyond the account:",
      leftOut.map(urnParts).map(({ type, name }) => ({ kind: type, name })),
    ),
    notes.flatMap((note) => wrappedText(note, "note: ")),
  );
};
