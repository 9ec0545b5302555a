import type { TenantFindings } from "../../provider/service/settings/tenant-findings.js";
import { textTable } from "../terminal/text-table.js";
import type { ProbePlan } from "./probe-plan.js";

/** What is going to happen, before anything is sent. */
export const planText = (baseUrl: string, { experiments, mostCalls, leftOut }: ProbePlan): string =>
  [
    `Probing ${baseUrl}: at most ${mostCalls} calls, and those that are repeated because of the rate.`,
    "Objects are made, all of them named pulumi-conversation-probe-…, and removed again. It finds out:",
    ...experiments.map(({ asks }) => `  - ${asks}`),
    ...(leftOut.length > 0 ? ["It does not find out:"] : []),
    ...leftOut.map(({ experiment, why }) => `  - ${experiment.asks}: ${why}`),
    "",
  ].join("\n");

const rows = (values: TenantFindings["switches"]): readonly (readonly string[])[] =>
  Object.entries(values).map(([name, value]) => [name, `${value}`]);

/** Cuts a reason into lines that fit 80 columns below its name. */
const wrapped = (text: string, width = 74): readonly string[] =>
  text.split(" ").reduce<string[]>((lines, word) => {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
    return lines;
  }, []);

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
    ...wrapped(why).map((line) => `    ${line}`),
  ]);
  return [
    ...table,
    ...(left.length > 0 ? ["", "Still open:", ...left] : []),
    "",
    `${calls} calls. Nothing was left behind. Written to ${file}; use it with:`,
    `  export CONVERSATION_FINDINGS=${file}`,
    `  npx pulumi-conversation emulator --like ${file}`,
    "",
  ].join("\n");
};
