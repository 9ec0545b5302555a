import { duration } from "../../provider/forecast/forecast-report.js";
import {
  codeSpan,
  foldedLines,
  markdownTable,
  textTable,
  withCount,
  wrappedText,
} from "../../provider/kernel/columns.js";
import { urnParts } from "../../provider/kernel/owner.js";
import { inertText } from "../../provider/kernel/text.js";
import { accountTitle } from "../../provider/service/settings.js";
import { type Block, textReport } from "../terminal/report.js";
import type { LostObject, RehearsalFromEmpty } from "./from-empty.js";
import { changeWord, obstacleTitle } from "./outcome.js";
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
  const what = `pulumi ${operation} for ${shown(`${project}/${stack}`)}`;
  const { passes, refusals, steps, totalCalls, totalSeconds } = outcome;
  if (!passes) {
    const first = refusals.filter(({ later }) => !later).length;
    return refusals.some((each) => each.operation === "preview")
      ? `the preview of ${what} will fail.`
      : `${what} will fail: ${withCount(first, "step")} will be refused.`;
  }
  const depends = alternatives.some((reading) => !reading.passes)
    ? " unless the service behaves differently than assumed"
    : "";
  const made = `${withCount(steps.length, "change")}, ${withCount(totalCalls, "call")}`;
  return `${what} will succeed${depends}: ${made}, about ${duration(totalSeconds)}.`;
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
  ...wrappedText(`${refusalTitle(refusal)}${refusal.later ? " (after the others)" : ""}`, "✗ "),
  ...wrappedText(refusal.reason, "  "),
  ...refusal.inTheWay.flatMap((obstacle) =>
    wrappedText(
      `in the way: ${obstacleTitle(obstacle)}, ${obstacle.stack === undefined ? "in no stack" : `in the stack ${obstacle.stack}`}`,
      "  ",
    ),
  ),
  ...refusal.order.flatMap((step, place) => wrappedText(step, `  ${place + 1}. `)),
];

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length > 0 ? [title, ...lines] : [];

/** An object for people: kind, name, ID. */
const objectLine = ({ kind, name, id, profile }: NamedObject): string =>
  `${kind} ${JSON.stringify(name)}${id ? ` (ID ${id})` : ""}${profile ? `, ${accountTitle(profile)}` : ""}`;

/** A change of the account for people. */
const changeLine = (change: AccountChange): string =>
  `${changeWord(change.change)}: ${objectLine(change)}${change.members ? `: ${change.members.join(", ")}` : ""}`;

const alternativeLines = ({ switches, differences, passes }: Alternative): readonly string[] => [
  ...wrappedText(
    `With ${Object.entries(switches)
      .map(([name, value]) => `${name}=${value}`)
      .join(" and ")} (see emulator --help), the run ${passes ? "succeeds" : "fails"}:`,
  ),
  ...some(differences, (text) => wrappedText(text, "  - ")),
];

const afterLines = ({ outcome }: Rehearsal): readonly string[] => {
  const { objects, changes, isIdempotent } = outcome;
  const state =
    isIdempotent === undefined
      ? []
      : isIdempotent
        ? ["A second run would find no changes and no drift."]
        : ["A second run would find changes again: check pulumi preview after this run."];
  return [
    ...section(
      `After the run, the account contains ${withCount(objects, "object")}. Changes:`,
      changes.length > 0
        ? some(changes, (change) => wrappedText(changeLine(change), "  - "))
        : ["  none"],
    ),
    ...state,
  ];
};

const sameText = ({ unaffectedSwitches }: Rehearsal): readonly string[] =>
  unaffectedSwitches.length > 0
    ? wrappedText(
        `The result is the same however the service handles ${unaffectedSwitches.join(", ")} (see emulator --help).`,
      )
    : [];

const leftOutText = (urn: string): string => {
  const { type, name } = urnParts(urn);
  return `${type} ${name}`;
};

const leftOutLines = (urns: readonly string[]): readonly string[] =>
  some(urns, (urn) => wrappedText(leftOutText(urn), "  - "));

const headBlock = (
  text: string,
  { plan, parallel }: Pick<Rehearsal, "plan" | "parallel">,
): Block => [
  ...wrappedText(text),
  `Plan ${plan}, --parallel ${parallel}. Nothing was written to the service or the state.`,
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
      "In no stack after the run:",
      some(outcome.undeclared, (object) => wrappedText(objectLine(object), "  - ")),
    ),
    section(
      "Not run because they may reach beyond the account (--also <type> runs them too):",
      leftOutLines(outcome.leftOut),
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
  `- **${sentence(refusalTitle(refusal))}**${refusal.later ? " (after the others)" : ""}: ${sentence(refusal.reason)}`,
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
    `If the service behaves differently (${Object.entries(switches)
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
      `${withCount(outcome.steps.length, "change")} in order`,
      outcome.steps.length > 0 ? stepTable(rehearsal) : [],
    ),
    ...foldedLines("The account after the run", bullets(outcome.changes.map(changeLine))),
    ...foldedLines(
      `${withCount(outcome.undeclared.length, "object")} in no stack`,
      bullets(outcome.undeclared.map(objectLine)),
    ),
    ...foldedLines(
      `${withCount(outcome.leftOut.length, "resource")} not run`,
      bullets(outcome.leftOut),
    ),
    ...(notes.length > 0 ? ["", ...bullets(notes.map((note) => `Note: ${note}`))] : []),
  ].join("\n")}\n`;
};

/** More lines are counted, not shown. */
const mostLost = 100;

const lostLine = (object: LostObject): string => {
  const what = object.members ? `: ${object.members.join(", ")}` : "";
  const elsewhere = object.stack === undefined ? "" : `, created by the stack ${object.stack}`;
  return `${objectLine(object)}${elsewhere}${what}`;
};

const rebuiltHeadline = ({ project, stack, outcome }: RehearsalFromEmpty): string => {
  const { passes, objects, totalCalls, totalSeconds } = outcome;
  const made = `${withCount(objects, "object")}, ${withCount(totalCalls, "call")}, about ${duration(totalSeconds)}`;
  return passes
    ? `The ${project}/${stack} program can recreate everything that it declares: ${made}.`
    : `The ${project}/${stack} program cannot recreate everything that it declares.`;
};

const lostLines = ({ lost, liveObjects }: RehearsalFromEmpty): readonly string[] => {
  if (lost.length === 0)
    return [`The program declares every object in the account (${liveObjects}).`];
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
    ...list("In the account but not in the program:", whole),
    ...list("In the program, but these members differ from the account:", parts),
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
