import type { TenantFindings } from "../../provider/service/settings.js";
import { textTable } from "../terminal/text-table.js";
import type { ProbePlan } from "./probe-plan.js";

/** Cuts a text into lines that fit 80 columns, all but the first of them indented. */
const wrapped = (text: string, first: string, indent: string): readonly string[] => {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.pop();
    if (last === undefined) lines.push(`${first}${word}`);
    else if (last.length + 1 + word.length <= 78) lines.push(`${last} ${word}`);
    else lines.push(last, `${indent}${word}`);
  }
  return lines;
};

const listItem = (text: string): readonly string[] => wrapped(text, "  - ", "    ");

/** What is going to happen, before anything is sent. */
export const planText = (baseUrl: string, { experiments, mostCalls, leftOut }: ProbePlan): string =>
  [
    `Probing ${baseUrl}:`,
    ...wrapped(
      `at most ${mostCalls} calls, and those that are repeated because of the rate, a failure or a token that ran out. Objects are made, all of them named pulumi-conversation-probe-…, and removed again. It finds out:`,
      "",
      "",
    ),
    ...experiments.flatMap(({ asks }) => listItem(asks)),
    "It does not find out:",
    ...leftOut.flatMap(({ experiment, why }) => listItem(`${experiment.asks}: ${why}`)),
    ...listItem("what messages do: a conversation cannot be removed again"),
    "",
  ].join("\n");

const rows = (values: TenantFindings["switches"]): readonly (readonly string[])[] =>
  Object.entries(values).map(([name, value]) => [name, `${value}`]);

/** What was found out, for people. */
export const findingsText = (findings: TenantFindings, file: string): string => {
  const { switches, settings, observed, open, calls } = findings;
  const only = Object.fromEntries(Object.entries(settings).filter(([name]) => !(name in switches)));
  const table = textTable(
    ["Question", "Answer"],
    [...rows(switches), ...rows(only), ...rows(observed)],
  );
  const left = Object.entries(open).flatMap(([name, why]) => [
    `  ${name}`,
    ...wrapped(why, "    ", "    "),
  ]);
  return [
    ...table,
    ...(left.length > 0 ? ["", "Still open:", ...left] : []),
    "",
    `${calls} calls. Nothing was left behind. What was found out is in a file; use it with:`,
    `  export CONVERSATION_FINDINGS=${file}`,
    `  npx pulumi-conversation emulator --like ${file}`,
    "",
  ].join("\n");
};
