import { styleText } from "node:util";
import type { CheckStatus, Diagnosis } from "./check.js";

const signs = {
  ok: { sign: "✓", colour: "green" },
  warn: { sign: "!", colour: "yellow" },
  fail: { sign: "✗", colour: "red" },
  skipped: { sign: "–", colour: "dim" },
} as const satisfies Record<CheckStatus, { sign: string; colour: string }>;

const counted = (count: number, what: string): string[] =>
  count === 0 ? [] : [`${count} ${what}`];

/** The diagnosis as a person reads it. */
export const doctorReport = ({ checks }: Diagnosis, coloured: boolean): string => {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.flatMap(({ name, status, message, advice }) => {
    const { sign, colour } = signs[status];
    const shown = coloured ? styleText(colour, sign, { validateStream: false }) : sign;
    const first = `${shown} ${name.padEnd(width)}  ${message.replaceAll("\n", " ")}`;
    return advice === "" ? [first] : [first, `${" ".repeat(width + 4)}→ ${advice}`];
  });
  const count = (status: CheckStatus) => checks.filter((check) => check.status === status).length;
  const verdict = [
    ...counted(count("fail"), "failed"),
    ...counted(count("warn"), "to look at"),
    ...counted(count("skipped"), "skipped"),
  ].join(", ");
  return `${lines.join("\n")}\n\n${verdict === "" ? "All is well." : `${verdict}.`}\n`;
};
