import type { z } from "zod";
import { inertText } from "../../../provider/kernel/text.js";
import { CommandFailure } from "../../command.js";
import type { Printed } from "../../printed.js";
import { openStack } from "../../stack/open-stack.js";
import { shellWord } from "../../terminal/columns.js";
import { readOriginal } from "../copy/original-stack.js";
import { readAccounts, settingsOfAccounts } from "../service/read-accounts.js";
import { accountDigest, outcomeDigest, stateDigest } from "./change-record.js";
import type { checkedRecordSchema } from "./checked-record-schema.js";
import { readRecord } from "./read-record.js";
import { programChanges, programOf } from "./recorded-program.js";
import { resolvedSettings, scopeChanges, settingChanges } from "./recorded-settings.js";

/** Whether a record still holds, as `--json` prints it. */
export type CheckedRecord = Printed<z.output<typeof checkedRecordSchema>>;

export type RecordPart = CheckedRecord["changed"][number];

/** What a record binds. */
const parts = [
  "program",
  "settings",
  "state",
  "account",
  "outcome",
] as const satisfies readonly RecordPart[];

export interface CheckRecordOptions {
  readonly file: string;
  /** Default: the stack of the record. */
  readonly stack?: string;
  readonly folder?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Looks whether program, settings, state, account and the record itself are as they were at the rehearsal.
 * Reads lists only, and those only with the same settings.
 *
 * @throws CommandFailure where the file is no record, or the stack cannot be read; ConversationError where
 * the account cannot
 */
export const runCheckRecord = async (options: CheckRecordOptions): Promise<CheckedRecord> => {
  const record = readRecord(options.file);
  const { rehearsal, madeAt, args, program, settings, asScopes, unread, digests } = record;
  const stack = await openStack({ stack: options.stack ?? rehearsal.stack, ...options });
  const { names } = stack;
  if (names.project !== rehearsal.project || names.stack !== rehearsal.stack)
    throw new CommandFailure(
      `The record is of ${rehearsal.project}/${rehearsal.stack}, and this is ${names.project}/${names.stack}.`,
      2,
    );
  const original = await readOriginal(stack);
  const otherSettings = settingChanges(
    settings,
    resolvedSettings(settingsOfAccounts(original), original, asScopes !== undefined),
  );
  // Other settings may lead elsewhere: nothing is sent there.
  const { readings } =
    otherSettings.length === 0 ? await readAccounts(original, options) : { readings: undefined };
  const ofSettings = [...otherSettings, ...scopeChanges(asScopes ?? [], readings ?? [])];
  const ofProgram = programChanges(program, programOf(stack, options.file, program.outputs));
  const same: Readonly<Record<RecordPart, boolean>> = {
    program: ofProgram.length === 0,
    settings: ofSettings.length === 0,
    state: (await stateDigest(stack)) === digests.state,
    account: readings === undefined || accountDigest(readings, unread) === digests.account,
    outcome: outcomeDigest(record) === digests.outcome,
  };
  const changed = parts.filter((part) => !same[part]);
  const { passes } = rehearsal.outcome;
  return {
    holds: passes && changed.length === 0,
    ...{ changed, differences: { program: [...ofProgram], settings: ofSettings }, unread },
    ...{ passes, madeAt, args },
    operation: rehearsal.operation,
    project: names.project,
    stack: names.stack,
  };
};

const meanings: Readonly<Record<RecordPart, string>> = {
  program: "the program",
  settings: "the settings of the service",
  state: "the state of the stack",
  account: "the account: an object was made, changed or deleted",
  outcome: "the record itself",
};

/** More of them are no help to a person. */
const mostDifferences = 10;

const differenceLines = (differences: readonly string[]): readonly string[] => {
  const left = differences.length - mostDifferences;
  return [
    ...differences.slice(0, mostDifferences).map((difference) => `      ${inertText(difference)}`),
    ...(left > 0 ? [`      … and ${left} more`] : []),
  ];
};

const kindText = ({ kind, profile }: CheckedRecord["unread"][number]): string =>
  profile === undefined ? kind : `${kind} of profile ${profile}`;

/** What a check found, for a person. */
export const checkedRecordText = (checked: CheckedRecord): string => {
  const { holds, changed, differences, unread, passes, madeAt, operation, project, stack, args } =
    checked;
  const run = `pulumi ${[operation, ...args.map(shellWord)].join(" ")}`;
  const unreadText =
    unread.length > 0
      ? `Not compared, as the rehearsal could not read it: ${unread.map(kindText).join(", ")}.\n`
      : "";
  if (holds)
    return `The rehearsal of ${project}/${stack} at ${madeAt} still holds.\n${unreadText}Go on with: ${run}\n`;
  const lines = changed.flatMap((part) => [
    `  - ${meanings[part]}`,
    ...(part === "program" || part === "settings" ? differenceLines(differences[part]) : []),
  ]);
  const reason =
    lines.length > 0
      ? [`Changed since the rehearsal of ${project}/${stack} at ${madeAt}:`, ...lines]
      : [];
  const refused = passes ? [] : ["The rehearsal itself did not go through."];
  return `${[...reason, ...refused, `Do not run ${run}. Rehearse again first.`].join("\n")}\n`;
};
