import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { makeFolders } from "../provider/kernel/files.js";
import { CommandFailure, messageOf } from "./command.js";

/** One file of a new project. */
export interface ProjectFile {
  /** From the root of the project, with `/`. */
  readonly path: string;
  readonly text: string;
  readonly executable?: boolean;
}

/** The name of a folder as one that Pulumi accepts for a project. */
export const projectNameFor = (folder: string): string =>
  basename(folder)
    .replaceAll(/[^\w.-]+/g, "-")
    .replaceAll(/^[^A-Za-z0-9]+|(?<![-.])[-.]+$/g, "")
    .slice(0, 100) || "conversation";

/** Files that a folder may hold before a project is made there. */
const harmless = new Set([".git", ".gitattributes", "LICENSE", "LICENSE.md"]);

const workIn = <T>(folder: string, advice: string, work: () => T): T => {
  try {
    return work();
  } catch (error) {
    throw new CommandFailure(`Cannot write to ${folder}: ${messageOf(error)}. ${advice}`);
  }
};

/**
 * Checks that nobody's files are in the folder of a new project, before anything is made.
 *
 * @param advice how to specify another folder
 * @throws CommandFailure if it holds files, is none, or cannot be read
 */
export const assertRoom = (folder: string, advice: string): void => {
  const all = workIn(folder, advice, () => (existsSync(folder) ? readdirSync(folder) : []));
  const found = all.filter((name) => !harmless.has(name));
  if (found.length === 0) return;
  const named = found.slice(0, 5).join(", ") + (found.length > 5 ? ", …" : "");
  throw new CommandFailure(`${folder} is not empty (${named}). Nothing was written. ${advice}`);
};

/** Writes files that are not there yet. @throws CommandFailure if one is by now, or cannot be written */
export const writeNewFiles = (
  folder: string,
  files: readonly ProjectFile[],
  advice: string,
): void =>
  workIn(folder, advice, () => {
    for (const { path, text, executable } of files) {
      const file = join(folder, path);
      makeFolders(dirname(file));
      writeFileSync(file, text, { mode: executable ? 0o755 : 0o644, flag: "wx" });
    }
  });
