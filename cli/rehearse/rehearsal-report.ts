import { urnParts } from "../../provider/kernel/owner.js";
import { inertOutput, inertText } from "../../provider/kernel/text.js";
import { accountTitle } from "../../provider/service/settings.js";
import { duration } from "../forecast/forecast-report.js";
import { holderText } from "../inventory/blast-radius.js";
import { codeSpan, textTable, withCount, wrappedText } from "../terminal/columns.js";
import { textReport } from "../terminal/report.js";
import type { NamedObject, Refusal, Rehearsal, RehearsedStep } from "./rehearsal-schema.js";

/** More names of one group are counted, not shown; `--json` has them all. */
const mostNames = 3;
/** More refusals, and more lines about one, are counted, not shown. */
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

/** Things that are equal but for their names. */
interface Group {
  /** What they have in common, column by column. */
  readonly common: readonly string[];
  readonly names: readonly string[];
}

const groupsOf = <T extends { readonly name: string }>(
  all: readonly T[],
  commonOf: (one: T) => readonly string[],
): readonly Group[] =>
  [...Map.groupBy(all, (one) => JSON.stringify(commonOf(one))).values()].flatMap((group) =>
    group.slice(0, 1).map((first) => ({
      common: commonOf(first),
      names: group.map(({ name }) => name),
    })),
  );

/** The names of a small group, or how many there are. */
const namesText = ({ names }: Group): string =>
  names.length > mostNames ? `${names.length} resources` : names.join(", ");

const kindText = ({ kind, profile }: NamedObject): string =>
  profile === undefined ? kind : `${kind} of ${accountTitle(profile)}`;

/** Equal steps as one row: what, of which kind, which, and what it changes. */
const stepRows = (steps: readonly RehearsedStep[]): readonly (readonly string[])[] =>
  groupsOf(steps, (step) => [step.operation, kindText(step), step.properties.join(", ")]).map(
    (group) => {
      const [operation = "", kind = "", properties = ""] = group.common;
      return [operation, kind, namesText(group), properties];
    },
  );

/** Objects or resources of one kind in a line. */
const kindLines = (all: readonly NamedObject[]): readonly string[] =>
  groupsOf(all, (one) => [kindText(one)]).map(
    (group) => `${group.common.join()}: ${namesText(group)}`,
  );

const leftOutLines = (urns: readonly string[]): readonly string[] =>
  kindLines(urns.map(urnParts).map(({ type, name }) => ({ kind: type, name })));

/**
 * The outcome of a rehearsal, in a sentence.
 *
 * @param shown how names are shown
 */
const headline = (
  { operation, project, stack, outcome }: Rehearsal,
  shown: (name: string) => string = inertText,
): string => {
  const what = `pulumi ${operation} for ${shown(`${project}/${stack}`)}`;
  const { passes, refusals, steps, totalCalls, totalSeconds } = outcome;
  if (!passes) {
    const first = refusals.filter(({ later }) => !later).length;
    return refusals.some((each) => each.operation === "preview")
      ? `the preview of ${what} will fail.`
      : `${what} will fail: ${withCount(first, "step")} will be refused.`;
  }
  const made = `${withCount(steps.length, "change")}, ${withCount(totalCalls, "call")}`;
  return `${what} will succeed: ${made}, about ${duration(totalSeconds)}.`;
};

/** What is refused, in a few words. */
const refusalTitle = ({ operation, kind, name, urn }: Refusal): string =>
  urn === undefined
    ? `pulumi ${operation}`
    : `${operation} ${[kind, name].filter(Boolean).join(" ")}`;

/** A refusal with its reason and who is in the way, in 80 columns. */
const refusalLines = (refusal: Refusal): readonly string[] => [
  ...wrappedText(`${refusalTitle(refusal)}${refusal.later ? " (after the others)" : ""}`, "✗ "),
  ...wrappedText(refusal.reason, "  "),
  ...some(refusal.inTheWay, mostRefusals, (user) =>
    wrappedText(
      `in the way: ${user.kind} ${JSON.stringify(user.name)} (ID ${user.id}, ${holderText(user)}): ${user.path}`,
      "  ",
    ),
  ),
];

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length > 0 ? [title, ...some(lines, mostGroups, (line) => wrappedText(line, "  - "))] : [];

/** A rehearsal as a person reads it, in 80 columns. */
export const rehearsalReport = (rehearsal: Rehearsal): string => {
  const { outcome, notes, plan, parallel } = rehearsal;
  const { passes, refusals, steps, objects, undeclared, leftOut } = outcome;
  const limits = `Plan ${plan}, --parallel ${parallel}. Nothing was written to the service or the state.`;
  const rows = stepRows(steps);
  const more = rows.length - mostGroups;
  const after = `After the run, the account contains ${withCount(objects, "object")}.`;
  return textReport(
    [...wrappedText(headline(rehearsal)), limits],
    some(refusals, mostRefusals, refusalLines),
    rows.length === 0
      ? []
      : [
          passes ? "What happens:" : "What is not refused, if the run gets there:",
          ...textTable(["What", "Kind", "Resources", "Changes"], rows.slice(0, mostGroups)),
          ...(more > 0 ? [`… and ${more} more (--json shows all)`] : []),
        ],
    passes ? [after] : [],
    section("In no stack after the run:", kindLines(undeclared)),
    section(
      "Not run because they may reach beyond the account (--also <type> runs them too):",
      leftOutLines(leftOut),
    ),
    notes.flatMap((note) => wrappedText(note, "note: ")),
  );
};

/** The marker by which a pipeline finds its previous comment, to replace it. */
const commentMarker = "<!-- pulumi-conversation rehearse -->";

/** A rehearsal as a comment in a pull request: nothing in a code block is interpreted. */
export const rehearsalMarkdown = (rehearsal: Rehearsal): string => {
  const report = inertOutput(rehearsalReport(rehearsal), false);
  const ticks = report.match(/`+/g)?.map(({ length }) => length) ?? [];
  const fence = "`".repeat(Math.max(2, ...ticks) + 1);
  const sign = rehearsal.outcome.passes ? "✅" : "❌";
  return `${commentMarker}\n### ${sign} ${headline(rehearsal, codeSpan)}\n\n${fence}text\n${report}${fence}\n`;
};
