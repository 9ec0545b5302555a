import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { CommandFailure, type CommandRun, messageOf } from "../command.js";
import { untilSignal } from "../process/until-signal.js";
import type { Rehearsal } from "./outcome/outcome.js";
import { accountDigest, changeRecord, stateDigest, unreadKinds } from "./record/change-record.js";
import { programOf } from "./record/recorded-program.js";
import { recordedSettings, resolvedSettings } from "./record/recorded-settings.js";
import { rehearsalMarkdown } from "./report/rehearsal-markdown.js";
import { rehearsalReport } from "./report/rehearsal-report.js";
import { type RehearsalResult, type RehearseOptions, runRehearse } from "./run-rehearse.js";

/** What the command line says of a rehearsal. */
export interface RehearseCommand extends Omit<RehearseOptions, "say" | "signal"> {
  /** File for the change record. */
  readonly record?: string;
  readonly json?: true;
  readonly markdown?: true;
}

/** Exit codes: it goes through, it is refused, or that depends on what is not certain of the service. */
const exitCodeOf = ({ outcome, otherReadings }: Rehearsal): number => {
  if (!outcome.passes) return 3;
  return otherReadings.some(({ passes }) => !passes) ? 4 : 0;
};

const writeRecord = async (
  file: string,
  { rehearsal, original, readings }: RehearsalResult,
  { args, asScopes }: RehearseCommand,
  state: string,
): Promise<void> => {
  const path = resolve(file);
  const record = changeRecord(rehearsal, args, {
    program: programOf(original.stack, path),
    settings: recordedSettings(
      resolvedSettings(
        readings.map(({ settings }) => settings),
        original,
        asScopes !== undefined,
      ),
    ),
    ...(asScopes === undefined ? {} : { asScopes: [...asScopes] }),
    unread: [...unreadKinds(readings)],
    digests: { state, account: accountDigest(readings) },
  });
  try {
    writeFileSync(path, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  } catch (error) {
    throw new CommandFailure(`The change record could not be written: ${messageOf(error)}`);
  }
};

const printed = (rehearsal: Rehearsal, { json, markdown }: RehearseCommand): string => {
  if (json) return `${JSON.stringify(rehearsal, null, 2)}\n`;
  return markdown ? rehearsalMarkdown(rehearsal) : rehearsalReport(rehearsal);
};

/** Rehearses, writes what was found, and the change record where one is wanted. */
export const rehearseAndPrint = (command: RehearseCommand, run: CommandRun): Promise<void> =>
  untilSignal(async (signal) => {
    const say = (text: string): void => run.err(`${text}\n`);
    const { record } = command;
    const result = await runRehearse({ ...command, say, signal });
    const { rehearsal, stateBefore } = result;
    const stateAfter = await stateDigest(result.original.stack);
    if (stateAfter !== stateBefore)
      throw new CommandFailure(
        "The state of the stack was changed by somebody else during the rehearsal, so what it said is of the past. Rehearse again.",
      );
    if (record !== undefined) await writeRecord(record, result, command, stateAfter);
    run.out(printed(rehearsal, command));
    run.exitCode = exitCodeOf(rehearsal);
  });
