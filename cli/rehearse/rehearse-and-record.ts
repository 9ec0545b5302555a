import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { CommandFailure, messageOf } from "../command.js";
import type { Rehearsal } from "./outcome/outcome.js";
import { accountDigest, changeRecord, stateDigest, unreadKinds } from "./record/change-record.js";
import { programOf } from "./record/recorded-program.js";
import { recordedSettings, resolvedSettings } from "./record/recorded-settings.js";
import { type RehearsalResult, type RehearseOptions, runRehearse } from "./run-rehearse.js";

const writeRecord = async (
  file: string,
  { rehearsal, original, readings }: RehearsalResult,
  { args, asScopes }: RehearseOptions,
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

/**
 * Rehearses, and writes the change record if one is wanted.
 *
 * @param record file for the change record
 */
export const rehearseAndRecord = async (
  options: RehearseOptions,
  record: string | undefined,
): Promise<Rehearsal> => {
  const result = await runRehearse(options);
  const { rehearsal, original, stateBefore } = result;
  const stateAfter = await stateDigest(original.stack);
  if (stateAfter !== stateBefore)
    throw new CommandFailure(
      "The state of the stack was changed by somebody else during the rehearsal, so what it said is of the past. Rehearse again.",
    );
  if (record !== undefined) await writeRecord(record, result, options, stateAfter);
  return rehearsal;
};
