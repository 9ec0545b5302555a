import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolders } from "../../provider/kernel/files.js";
import { CommandFailure, messageOf } from "../command.js";

/** A repository may begin before the export. */
const namesIn = (folder: string): readonly string[] =>
  existsSync(folder) ? readdirSync(folder).filter((name) => name !== ".git") : [];

/**
 * Checks that nobody's files are in a folder, before anything is read from the service.
 *
 * @throws CommandFailure if it holds files, is none, or cannot be read
 */
export const assertEmpty = (folder: string): void => {
  const advice = "Nothing was changed. Specify a new folder with --out.";
  let names: readonly string[];
  try {
    names = namesIn(folder);
  } catch (error) {
    throw new CommandFailure(`Cannot write to ${folder}: ${messageOf(error)}. ${advice}`);
  }
  if (names.length > 0) throw new CommandFailure(`${folder} is not empty. ${advice}`);
};

/**
 * Writes files that are not there yet.
 *
 * @throws CommandFailure if one of them exists by now, or cannot be written
 */
export const writeNewFiles = (folder: string, files: ReadonlyMap<string, string>): void => {
  try {
    makeFolders(folder);
    for (const [name, text] of files) writeFileSync(join(folder, name), text, { flag: "wx" });
  } catch (error) {
    throw new CommandFailure(
      `Writing the export to ${folder} failed: ${messageOf(error)}. Fix the problem, and export to a new folder.`,
    );
  }
};
