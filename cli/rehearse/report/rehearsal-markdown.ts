import { duration } from "../../forecast/report.js";
import { obstacleTitle } from "../outcome/obstacles.js";
import type { Refusal, Rehearsal } from "../outcome/outcome.js";
import { changeLine, headline, objectLine, refusalTitle } from "./rehearsal-report.js";

/** By which a pipeline finds its comment of the last time, to put this one in its place. */
export const commentMarker = "<!-- pulumi-conversation rehearse -->";

/** More rows make a comment that nobody reads, and that a forge may refuse. */
const mostRows = 100;

/** Text that can change nothing but itself, in a line or in a cell of a table. */
const escaped = (text: string): string =>
  text.replace(/\s+/g, " ").replace(/[\\`*_{}[\]<>#|~@!&]/g, (sign) => `&#${sign.charCodeAt(0)};`);

const bullets = (lines: readonly string[]): readonly string[] => {
  const more = lines.length - mostRows;
  return [
    ...lines.slice(0, mostRows).map((line) => `- ${escaped(line)}`),
    ...(more > 0 ? [`- … and ${more} more`] : []),
  ];
};

const refusalText = (refusal: Refusal): readonly string[] => [
  `- **${escaped(refusalTitle(refusal))}**${refusal.later ? " (comes after the others)" : ""}: ${escaped(refusal.reason)}`,
  ...refusal.inTheWay.map((obstacle) => `  - in the way: ${escaped(obstacleTitle(obstacle))}`),
  ...refusal.order.map((step, place) => `  ${place + 1}. ${escaped(step)}`),
];

const stepTable = ({ outcome: { steps } }: Rehearsal): readonly string[] => {
  const more = steps.length - mostRows;
  return [
    "| From | To | What | Resource |",
    "|---|---|---|---|",
    ...steps
      .slice(0, mostRows)
      .map(
        ({ fromSeconds, toSeconds, operation, kind, name }) =>
          `| ${duration(fromSeconds)} | ${duration(toSeconds)} | ${escaped(operation)} | ${kind} ${escaped(name)} |`,
      ),
    ...(more > 0 ? [`| | | | … and ${more} more |`] : []),
  ];
};

const folded = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length > 0
    ? ["", `<details><summary>${title}</summary>`, "", ...lines, "", "</details>"]
    : [];

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
    `### ${sign} ${escaped(headline(rehearsal))}`,
    "",
    `Plan ${plan}, \`--parallel ${parallel}\`. Nothing was written to the service or the state.`,
    ...(outcome.refusals.length > 0 ? ["", ...outcome.refusals.flatMap(refusalText)] : []),
    ...readingText(rehearsal),
    ...folded(
      `${outcome.steps.length} changes in their order`,
      outcome.steps.length > 0 ? stepTable(rehearsal) : [],
    ),
    ...folded("The account afterwards", bullets(outcome.changes.map(changeLine))),
    ...folded(
      `${outcome.undeclared.length} objects in no stack`,
      bullets(outcome.undeclared.map(objectLine)),
    ),
    ...folded(`${outcome.leftOut.length} resources that were not run`, bullets(outcome.leftOut)),
    ...(notes.length > 0 ? ["", ...bullets(notes.map((note) => `Note: ${note}`))] : []),
  ].join("\n")}\n`;
};
