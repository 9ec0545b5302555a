import type { z } from "zod";
import { CommandFailure } from "../../command.js";
import type { Printed } from "../../printed.js";
import { openStack } from "../../stack/open-stack.js";
import { inertText } from "../../terminal/inert-text.js";
import { shellWord } from "../../terminal/shell-word.js";
import { readOriginal } from "../copy/original-stack.js";
import { readAccounts } from "../service/read-accounts.js";
import { accountDigest, outcomeDigest, stateDigest } from "./change-record.js";
import type { checkedRecordSchema } from "./checked-record-schema.js";
import { readRecord } from "./read-record.js";
import { programChanges, readProgram, toolFoldersIn } from "./recorded-program.js";
import { redirectedTo } from "./written-files.js";

/** Whether a record still holds, as `--json` prints it. */
export type CheckedRecord = Printed<z.output<typeof checkedRecordSchema>>;

export type RecordPart = CheckedRecord["changed"][number];

/** What a record binds. */
const parts = ["program", "state", "account", "outcome"] as const satisfies readonly RecordPart[];

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
 * Looks whether program, state, account and the record itself are as they were at the rehearsal. Reads
 * lists only.
 *
 * @throws CommandFailure where the file is no record, or the stack cannot be read; ConversationError where
 * the account cannot
 */
export const runCheckRecord = async (options: CheckRecordOptions): Promise<CheckedRecord> => {
  const record = readRecord(options.file);
  const { rehearsal, madeAt, args, program, digests } = record;
  const stack = await openStack({ stack: options.stack ?? rehearsal.stack, ...options });
  const { names, place } = stack;
  if (names.project !== rehearsal.project || names.stack !== rehearsal.stack)
    throw new CommandFailure(
      `The record is of ${rehearsal.project}/${rehearsal.stack}, and this is ${names.project}/${names.stack}.`,
      2,
    );
  const original = await readOriginal(stack);
  const { readings } = await readAccounts(original, options);
  const programNow = readProgram(place.folder, {
    stack: names.stack,
    toolFolders: toolFoldersIn(stack.env, place.folder),
    recordFile: options.file,
    written: redirectedTo(),
    outputs: program.outputs,
  });
  const differences = programChanges(program, programNow);
  const same: Readonly<Record<RecordPart, boolean>> = {
    program: differences.length === 0,
    state: (await stateDigest(stack)) === digests.state,
    account: accountDigest(readings) === digests.account,
    outcome: outcomeDigest(record) === digests.outcome,
  };
  const changed = parts.filter((part) => !same[part]);
  const { passes } = rehearsal.outcome;
  return {
    holds: passes && changed.length === 0,
    ...{ changed, differences, passes, madeAt, args },
    operation: rehearsal.operation,
    project: names.project,
    stack: names.stack,
  };
};

const meanings: Readonly<Record<RecordPart, string>> = {
  program: "the program",
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

/** What a check found, for a person. */
export const checkedRecordText = (checked: CheckedRecord): string => {
  const { holds, changed, differences, passes, madeAt, operation, project, stack, args } = checked;
  const run = `pulumi ${[operation, ...args.map(shellWord)].join(" ")}`;
  if (holds)
    return `The rehearsal of ${project}/${stack} at ${madeAt} still holds.\nGo on with: ${run}\n`;
  const lines = changed.flatMap((part) => [
    `  - ${meanings[part]}`,
    ...(part === "program" ? differenceLines(differences) : []),
  ]);
  const reason =
    lines.length > 0
      ? [`Changed since the rehearsal of ${project}/${stack} at ${madeAt}:`, ...lines]
      : [];
  const refused = passes ? [] : ["The rehearsal itself did not go through."];
  return `${[...reason, ...refused, `Do not run ${run}. Rehearse again first.`].join("\n")}\n`;
};
