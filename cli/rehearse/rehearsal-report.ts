import { duration } from "../../provider/forecast/forecast-report.js";
import {
  codeSpan,
  foldedLines,
  markdownTable,
  textTable,
  withCount,
  wrappedText,
} from "../../provider/kernel/columns.js";
import { inertText } from "../../provider/kernel/text.js";
import { accountTitle } from "../../provider/service/settings.js";
import { type Block, textReport } from "../terminal/report.js";
import type { LostObject, RehearsalFromEmpty } from "./from-empty.js";
import { obstacleTitle } from "./outcome.js";
import type {
  AccountChange,
  Alternative,
  NamedObject,
  Refusal,
  Rehearsal,
  RehearsedStep,
} from "./rehearsal-schema.js";

/** More lines of one kind are counted, not shown; `--json` has them all. */
const mostLines = 40;

const some = <T>(all: readonly T[], shown: (one: T) => readonly string[]): readonly string[] => {
  const lines = all.slice(0, mostLines).flatMap(shown);
  const more = all.length - mostLines;
  return more > 0 ? [...lines, `  … and ${more} more (--json shows all)`] : lines;
};

/**
 * The outcome of a rehearsal, in a sentence.
 *
 * @param shown how names are shown
 */
const headline = (
  { operation, project, stack, outcome, alternatives }: Rehearsal,
  shown: (name: string) => string = inertText,
): string => {
  const what = `pulumi ${operation} of ${shown(`${project}/${stack}`)}`;
  const { passes, refusals, steps, totalCalls, totalSeconds } = outcome;
  if (!passes) {
    const first = refusals.filter(({ later }) => !later).length;
    return refusals.some((each) => each.operation === "preview")
      ? `${what} will be refused by its preview.`
      : `${what} will not go through: ${withCount(first, "step")} will be refused.`;
  }
  const depends = alternatives.some((reading) => !reading.passes)
    ? " unless the service behaves otherwise than assumed"
    : "";
  const made = `${withCount(steps.length, "change")}, ${withCount(totalCalls, "call")}`;
  return `${what} will go through${depends}: ${made}, about ${duration(totalSeconds)}.`;
};

const stepRow = ({ fromSeconds, toSeconds, operation, kind, name }: RehearsedStep) => [
  `${duration(fromSeconds)} – ${duration(toSeconds)}`,
  operation,
  `${kind} ${name}`,
];

const stepLines = ({ outcome: { steps } }: Rehearsal): readonly string[] => {
  if (steps.length === 0) return [];
  const rows = steps.slice(0, mostLines).map(stepRow);
  const more = steps.length - mostLines;
  const rest = more > 0 ? [`… and ${more} more (--json shows all)`] : [];
  return [...textTable(["When", "What", "Resource"], rows), ...rest];
};

/** What is refused, in a few words. */
const refusalTitle = ({ operation, kind, name, urn }: Refusal): string =>
  urn === undefined
    ? `pulumi ${operation}`
    : `${operation} ${[kind, name].filter(Boolean).join(" ")}`;

/** A refusal with its reason, who is in the way, and what to do, in 80 columns. */
const refusalLines = (refusal: Refusal): readonly string[] => [
  ...wrappedText(
    `${refusalTitle(refusal)}${refusal.later ? " (comes after the others)" : ""}`,
    "✗ ",
  ),
  ...wrappedText(refusal.reason, "  "),
  ...refusal.inTheWay.flatMap((obstacle) =>
    wrappedText(
      `in the way: ${obstacleTitle(obstacle)}, ${obstacle.stack === undefined ? "in no stack" : `of the stack ${obstacle.stack}`}`,
      "  ",
    ),
  ),
  ...refusal.order.flatMap((step, place) => wrappedText(step, `  ${place + 1}. `)),
];

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length > 0 ? [title, ...lines] : [];

/** An object for people: kind, name, id. */
const objectLine = ({ kind, name, id, profile }: NamedObject): string =>
  `${kind} ${JSON.stringify(name)}${id ? ` (id ${id})` : ""}${profile ? `, ${accountTitle(profile)}` : ""}`;

/** A change of the account for people. */
const changeLine = (change: AccountChange): string =>
  `${change.change}: ${objectLine(change)}${change.members ? `: ${change.members.join(", ")}` : ""}`;

const alternativeLines = ({ switches, differences, passes }: Alternative): readonly string[] => [
  ...wrappedText(
    `If ${Object.entries(switches)
      .map(([name, value]) => `${name} is ${value}`)
      .join(" and ")}, it ${passes ? "goes through" : "does not go through"}:`,
  ),
  ...some(differences, (text) => wrappedText(text, "  - ")),
];

const afterLines = ({ outcome }: Rehearsal): readonly string[] => {
  const { objects, changes, isIdempotent } = outcome;
  const state =
    isIdempotent === undefined
      ? []
      : isIdempotent
        ? ["A second run finds nothing to do, and no drift."]
        : ["A second run finds something to do again: look at pulumi preview after it."];
  return [
    ...section(
      `Afterwards the account holds ${withCount(objects, "object")}:`,
      changes.length > 0
        ? some(changes, (change) => wrappedText(changeLine(change), "  - "))
        : ["  nothing of it is changed"],
    ),
    ...state,
  ];
};

const sameText = ({ unaffectedSwitches }: Rehearsal): readonly string[] =>
  unaffectedSwitches.length > 0
    ? wrappedText(
        `Comes to the same whichever way the service behaves where that is not certain: ${unaffectedSwitches.join(", ")}.`,
      )
    : [];

const headBlock = (
  text: string,
  { plan, parallel }: Pick<Rehearsal, "plan" | "parallel">,
): Block => [
  ...wrappedText(text),
  `Plan ${plan}, --parallel ${parallel}. Nothing was written to service or state.`,
];

const noteLines = (notes: readonly string[]): Block =>
  notes.flatMap((note) => wrappedText(note, "note: "));

/** A rehearsal as a person reads it, in 80 columns. */
export const rehearsalReport = (rehearsal: Rehearsal): string => {
  const { outcome, alternatives, notes } = rehearsal;
  return textReport(
    headBlock(headline(rehearsal), rehearsal),
    outcome.refusals.flatMap(refusalLines),
    stepLines(rehearsal),
    ...alternatives.map(alternativeLines),
    sameText(rehearsal),
    afterLines(rehearsal),
    section(
      "In no stack afterwards:",
      some(outcome.undeclared, (object) => wrappedText(objectLine(object), "  - ")),
    ),
    section(
      "Not run, as it reaches beyond the account (--also <type> runs it, too):",
      some(outcome.leftOut, (urn) => [`  - ${urn}`]),
    ),
    noteLines(notes),
  );
};

/** The marker by which a pipeline finds its previous comment, to replace it. */
const commentMarker = "<!-- pulumi-conversation rehearse -->";

/** Nobody reads a comment with more rows, and the Git host may refuse it. */
const mostRows = 100;

/** A sentence that contains foreign names; all of it becomes a code span. */
const sentence = (text: string): string => codeSpan(text, 1_000);

const bullets = (lines: readonly string[]): readonly string[] => {
  const more = lines.length - mostRows;
  return [
    ...lines.slice(0, mostRows).map((line) => `- ${sentence(line)}`),
    ...(more > 0 ? [`- … and ${more} more`] : []),
  ];
};

const refusalText = (refusal: Refusal): readonly string[] => [
  `- **${sentence(refusalTitle(refusal))}**${refusal.later ? " (comes after the others)" : ""}: ${sentence(refusal.reason)}`,
  ...refusal.inTheWay.map((obstacle) => `  - in the way: ${sentence(obstacleTitle(obstacle))}`),
  ...refusal.order.map((step, place) => `  ${place + 1}. ${sentence(step)}`),
];

const stepTable = ({ outcome: { steps } }: Rehearsal): readonly string[] => {
  const more = steps.length - mostRows;
  const rows = steps
    .slice(0, mostRows)
    .map(({ fromSeconds, toSeconds, operation, kind, name }) => [
      duration(fromSeconds),
      duration(toSeconds),
      operation,
      `${kind} ${codeSpan(name)}`,
    ]);
  return markdownTable(
    ["From", "To", "What", "Resource"],
    more > 0 ? [...rows, ["", "", "", `… and ${more} more`]] : rows,
  );
};

const readingText = ({ alternatives }: Rehearsal): readonly string[] =>
  alternatives.flatMap(({ switches, differences }) => [
    "",
    `If the service behaves otherwise (${Object.entries(switches)
      .map(([name, value]) => `\`${name}: ${value}\``)
      .join(", ")}):`,
    ...bullets(differences),
  ]);

/** A rehearsal as a comment in a pull request. */
export const rehearsalMarkdown = (rehearsal: Rehearsal): string => {
  const { outcome, notes, plan, parallel } = rehearsal;
  const sign = outcome.passes ? "✅" : "❌";
  return `${[
    commentMarker,
    `### ${sign} ${headline(rehearsal, codeSpan)}`,
    "",
    `Plan ${plan}, \`--parallel ${parallel}\`. Nothing was written to the service or the state.`,
    ...(outcome.refusals.length > 0 ? ["", ...outcome.refusals.flatMap(refusalText)] : []),
    ...readingText(rehearsal),
    ...foldedLines(
      `${outcome.steps.length} changes in their order`,
      outcome.steps.length > 0 ? stepTable(rehearsal) : [],
    ),
    ...foldedLines("The account afterwards", bullets(outcome.changes.map(changeLine))),
    ...foldedLines(
      `${outcome.undeclared.length} objects in no stack`,
      bullets(outcome.undeclared.map(objectLine)),
    ),
    ...foldedLines(
      `${outcome.leftOut.length} resources that were not run`,
      bullets(outcome.leftOut),
    ),
    ...(notes.length > 0 ? ["", ...bullets(notes.map((note) => `Note: ${note}`))] : []),
  ].join("\n")}\n`;
};

/** More lines are counted, not shown. */
const mostLost = 100;

const lostLine = (object: LostObject): string => {
  const what = object.members ? `: ${object.members.join(", ")}` : "";
  const elsewhere = object.stack === undefined ? "" : `, made by the stack ${object.stack}`;
  return `${objectLine(object)}${elsewhere}${what}`;
};

const rebuiltHeadline = ({ project, stack, outcome }: RehearsalFromEmpty): string => {
  const { passes, objects, totalCalls, totalSeconds } = outcome;
  const made = `${withCount(objects, "object")}, ${withCount(totalCalls, "call")}, about ${duration(totalSeconds)}`;
  return passes
    ? `The program of ${project}/${stack} makes everything that it declares anew: ${made}.`
    : `The program of ${project}/${stack} cannot make everything anew that it declares.`;
};

const lostLines = ({ lost, liveObjects }: RehearsalFromEmpty): readonly string[] => {
  if (lost.length === 0)
    return [`All ${withCount(liveObjects, "object")} of the account are in the program.`];
  const whole = lost.filter(({ members }) => members === undefined);
  const parts = lost.filter(({ members }) => members !== undefined);
  const list = (title: string, objects: readonly LostObject[]): readonly string[] =>
    objects.length === 0
      ? []
      : [
          title,
          ...objects.slice(0, mostLost).flatMap((object) => wrappedText(lostLine(object), "  - ")),
          ...(objects.length > mostLost ? [`  … and ${objects.length - mostLost} more`] : []),
        ];
  return [
    ...list("In the account, and not in the program:", whole),
    ...list("In the program, but not with these members as they are in the account:", parts),
  ];
};

/** A rehearsal from empty as a person reads it, in 80 columns. */
export const fromEmptyReport = (rebuilt: RehearsalFromEmpty): string => {
  const { outcome, notes } = rebuilt;
  return textReport(
    headBlock(rebuiltHeadline(rebuilt), rebuilt),
    outcome.refusals.flatMap(refusalLines),
    lostLines(rebuilt),
    outcome.leftOut.map((urn) => `Not run: ${urn}`),
    noteLines(notes),
  );
};
