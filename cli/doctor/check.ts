import { styleText } from "node:util";
import { z } from "zod";
import { wrappedWords } from "../terminal/columns.js";

const statuses = ["ok", "warn", "fail", "skipped"] as const;

export type CheckStatus = (typeof statuses)[number];

const checkSchema = z.strictObject({
  name: z.string().describe("Stable name, such as node or setting:baseUrl"),
  status: z.enum(statuses),
  message: z.string().describe("What was found; never a secret"),
  advice: z.string().describe("What to do about it; empty where there is nothing to do"),
});

/** Shape of what `doctor --json` prints. */
export const diagnosisSchema = z.strictObject({
  ok: z.boolean().describe("False as soon as one check failed"),
  checks: z.array(checkSchema),
});

/** What one check found. Never holds a secret. */
export type DoctorCheck = Readonly<z.infer<typeof checkSchema>>;

/** Everything that the checks found; `ok` is false as soon as one of them failed. */
export interface Diagnosis {
  readonly ok: boolean;
  readonly checks: readonly DoctorCheck[];
}

const result =
  (status: CheckStatus) =>
  (name: string, message: string, advice = ""): DoctorCheck => ({ name, status, message, advice });

export const ok = result("ok");
export const warn = result("warn");
export const fail = result("fail");
export const skipped = result("skipped");

const signs = {
  ok: { sign: "✓", colour: "green" },
  warn: { sign: "!", colour: "yellow" },
  fail: { sign: "✗", colour: "red" },
  skipped: { sign: "–", colour: "dim" },
} as const satisfies Record<CheckStatus, { sign: string; colour: string }>;

const COLUMNS = 80;
/** The sign before a name, and the space around it. */
const GAP = 4;

const counted = (count: number, what: string): string[] =>
  count === 0 ? [] : [`${count} ${what}`];

/** The diagnosis as a person reads it. */
export const doctorReport = ({ checks }: Diagnosis, coloured: boolean): string => {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.flatMap(({ name, status, message, advice }) => {
    const { sign, colour } = signs[status];
    const shown = coloured ? styleText(colour, sign, { validateStream: false }) : sign;
    const beside = (text: string) => wrappedWords(text, COLUMNS - width - GAP);
    const [first = "", ...more] = [
      ...beside(message),
      ...(advice === "" ? [] : beside(`→ ${advice}`)),
    ];
    return [
      `${shown} ${name.padEnd(width)}  ${first}`,
      ...more.map((line) => " ".repeat(width + GAP) + line),
    ];
  });
  const count = (status: CheckStatus) => checks.filter((check) => check.status === status).length;
  const verdict = [
    ...counted(count("fail"), "failed"),
    ...counted(count("warn"), "to look at"),
    ...counted(count("skipped"), "skipped"),
  ].join(", ");
  return `${lines.join("\n")}\n\n${verdict === "" ? "All is well." : `${verdict}.`}\n`;
};
