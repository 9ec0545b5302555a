import { duration } from "../../forecast/report.js";
import { withCount, wrappedText } from "../../terminal/columns.js";
import { objectLine, refusalLines } from "../report/rehearsal-report.js";
import type { LostObject, RehearsalFromEmpty } from "./rehearse-from-empty.js";

/** More lines are counted, not shown. */
const mostLines = 100;

const lostLine = (object: LostObject): string => {
  const what = object.members ? `: ${object.members.join(", ")}` : "";
  const elsewhere = object.stack === undefined ? "" : `, made by the stack ${object.stack}`;
  return `${objectLine(object)}${elsewhere}${what}`;
};

const headline = ({ project, stack, outcome }: RehearsalFromEmpty): string => {
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
          ...objects.slice(0, mostLines).flatMap((object) => wrappedText(lostLine(object), "  - ")),
          ...(objects.length > mostLines ? [`  … and ${objects.length - mostLines} more`] : []),
        ];
  return [
    ...list("In the account, and not in the program:", whole),
    ...list("In the program, but not with these members as they are in the account:", parts),
  ];
};

/** A rehearsal from empty as a person reads it, in 80 columns. */
export const fromEmptyReport = (rebuilt: RehearsalFromEmpty): string => {
  const { outcome, plan, parallel, notes } = rebuilt;
  const blocks = [
    [
      ...wrappedText(headline(rebuilt)),
      `Plan ${plan}, --parallel ${parallel}. Nothing was written to service or state.`,
    ],
    outcome.refusals.flatMap(refusalLines),
    lostLines(rebuilt),
    outcome.leftOut.map((urn) => `Not run: ${urn}`),
    notes.flatMap((note) => wrappedText(note, "note: ")),
  ];
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
};
