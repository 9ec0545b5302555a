import { writeFile } from "node:fs/promises";
import { savedAccount } from "../account/object-inputs.js";
import { readAccountInputs } from "../account/open-account.js";
import { CommandFailure, messageOf } from "../command.js";
import { type CompareOptions, comparedAccount } from "./compare-sources.js";
import { type Comparison, comparison } from "./comparison.js";

/**
 * Compares two sides.
 *
 * @throws CommandFailure where a side cannot be found or read
 */
export const runCompare = async (
  a: string,
  b: string,
  options: CompareOptions,
): Promise<Comparison> =>
  comparison(await comparedAccount(a, options), await comparedAccount(b, options));

/** Saves a live account without its secrets, to be compared later. @returns how many objects it holds */
export const saveAccount = async (
  source: string,
  file: string,
  options: CompareOptions,
): Promise<number> => {
  const profile = /^profile:(.+)$/.exec(source)?.[1] ?? (source === "live" ? undefined : source);
  const { reading } = await readAccountInputs({ ...options, ...(profile ? { profile } : {}) });
  const text = `${JSON.stringify(savedAccount(reading), null, 2)}\n`;
  await writeFile(file, text, { mode: 0o600 }).catch((error: unknown) => {
    throw new CommandFailure(`Saving the account: ${file} cannot be written: ${messageOf(error)}`);
  });
  return reading.kinds.reduce((sum, { objects }) => sum + objects.size, 0);
};
