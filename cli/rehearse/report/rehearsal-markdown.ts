import { duration } from "../../forecast/report.js";
import { codeSpan, foldedLines, markdownTable } from "../../terminal/columns.js";
import { obstacleTitle } from "../outcome/obstacles.js";
import type { Refusal, Rehearsal } from "../outcome/outcome.js";
import { changeLine, headline, objectLine, refusalTitle } from "./rehearsal-report.js";

/** By which a pipeline finds its comment of the last time, to put this one in its place. */
export const commentMarker = "<!-- pulumi-conversation rehearse -->";

/** More rows make a comment that nobody reads, and that a forge may refuse. */
const mostRows = 100;

/** A sentence that holds names of others; the whole of it is code. */
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

const readingText = ({ otherReadings }: Rehearsal): readonly string[] =>
  otherReadings.flatMap(({ switches, differences }) => [
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
