import { logicalName } from "../stack/stack-export.js";
import { wrapped } from "../terminal/columns.js";
import { isRepaired, type RepairResult, type RepairStep } from "./repair-steps.js";

const width = 80;

const reasons = {
  held: "the state has it",
  "not-made": "nothing was made",
  again: "the next run does it again",
} as const;

/** What a step does, in a sentence. */
const sentenceOf = (step: RepairStep): string => {
  switch (step.action) {
    case "remove-cut-off-files":
      return `Remove ${step.files.length === 1 ? "a file" : `${step.files.length} files`} that the killed run left empty, so that Pulumi can read the state: ${step.files.join(" ")}`;
    case "restore-state":
      return `Put the newest copy that Pulumi keeps (${step.copy}) in the place of the state, which is cut off (${step.file}). What was made since is found at the service.`;
    case "end-process":
      return `End process ${step.pid}: the provider of the killed run, which waits for ever.`;
    case "cancel":
      return `Take away the lock (pulumi cancel): ${step.by}`;
    case "record":
      return `Write ${step.kind} ${logicalName(step.urn)} into the state: it was made as "${step.name}" (id ${step.id}), and the state does not know it.`;
    case "refresh":
      return `Write into the state what ${step.kind} ${logicalName(step.urn)} (id ${step.id}) holds now: its update was cut off.`;
    case "forget":
      return `Take off the note that a run is at work on ${step.kind} ${logicalName(step.urn)}: ${reasons[step.why]}.`;
    case "delete":
      return `Delete the ${step.kind} "${step.name}" (id ${step.id}): made twice, for ${step.label}, and the other one stays.`;
  }
};

const signOf = ({ done }: RepairStep): string => (done === undefined ? "-" : done ? "✓" : "✗");

const indented = (text: string, sign: string): readonly string[] =>
  wrapped(text, width - sign.length - 1).map((line, at) =>
    at === 0 ? `${sign} ${line}` : `${" ".repeat(sign.length)} ${line}`,
  );

const stepLines = (step: RepairStep): readonly string[] => [
  ...indented(sentenceOf(step), signOf(step)),
  ...(step.reason === undefined ? [] : indented(`Not done: ${step.reason}`, " ")),
];

const ending = (result: RepairResult): readonly string[] => {
  const { applied, steps, left } = result;
  if (!applied && steps.length > 0)
    return ["", "To do all this: pulumi-conversation repair --apply"];
  if (applied && left.length === 0 && isRepaired(result) && steps.length > 0)
    return ["", "All in order. The next pulumi up goes on from here."];
  return [];
};

/** What was found and done, for people, within 80 columns. */
export const repairReport = (result: RepairResult): string => {
  const { project, stack, steps, notes, left } = result;
  const name = project ? `${project}/${stack}` : stack || "the selected stack";
  const heading =
    steps.length + left.length === 0
      ? `Nothing to repair: no run of ${name} was cut off.`
      : `A run of ${name} was cut off:`;
  const section = (sentences: readonly string[]) =>
    sentences.length === 0 ? [] : ["", ...sentences.flatMap((text) => indented(text, "!"))];
  const lines = [
    heading,
    ...(steps.length > 0 ? ["", ...steps.flatMap(stepLines)] : []),
    ...section(left),
    ...section(notes),
    ...ending(result),
  ];
  return `${lines.join("\n")}\n`;
};
