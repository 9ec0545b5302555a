import { closeSync, existsSync, openSync, readdirSync, rmSync, writeFileSync } from "node:fs";
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
 * Writes files that are not there yet: all of them or none.
 *
 * @throws CommandFailure if one of them exists by now, or cannot be written
 */
export const writeNewFiles = (folder: string, files: ReadonlyMap<string, string>): void => {
  const made: string[] = [];
  try {
    makeFolders(folder);
    for (const [name, text] of files) {
      const path = join(folder, name);
      const file = openSync(path, "wx");
      made.push(path);
      writeFileSync(file, text);
      closeSync(file);
    }
  } catch (error) {
    for (const path of made) rmSync(path, { force: true });
    throw new CommandFailure(
      `Writing the export to ${folder} failed: ${messageOf(error)}. No file was left there. Fix the problem and run the export again.`,
    );
  }
};
