import {
  existsSync,
  mkdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { makeFolders } from "../../provider/kernel/files.js";
import { CommandFailure, messageOf } from "../command.js";

/** Folder in which files wait until all of them are written; who has made it may write. */
export const stagingName = ".conversation-export.partial";

/** Writing takes no longer: an older one was left behind by a run that was killed. */
const longestMs = 60_000;

/** What becomes of the files of a folder. */
export interface FolderChange<T> {
  /** Texts by name. */
  readonly written: ReadonlyMap<string, string>;
  /** Names of files that go. */
  readonly removed: readonly string[];
  /** The file that tells of the others: it is changed when all of them are. */
  readonly last: readonly [name: string, text: string];
  readonly result: T;
}

const isThere = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "EEXIST";

/** @throws CommandFailure where another run writes at this moment */
const makeStaging = (folder: string): string => {
  const staging = join(folder, stagingName);
  if (existsSync(staging) && Date.now() - statSync(staging).mtimeMs > longestMs)
    rmSync(staging, { recursive: true });
  try {
    mkdirSync(staging);
  } catch (error) {
    if (!isThere(error)) throw error;
    throw new CommandFailure(
      `Another export writes ${folder} at this moment. Nothing was changed. Start this one again in a minute.`,
    );
  }
  return staging;
};

/** Removes the folders that were made, as far as nobody has put anything there. */
const removeEmpty = (folder: string, outermost: string): void => {
  try {
    rmdirSync(folder);
    if (folder !== outermost) removeEmpty(dirname(folder), outermost);
  } catch {
    // Somebody else uses it by now.
  }
};

const failed = (folder: string, error: unknown, advice: string): CommandFailure =>
  error instanceof CommandFailure
    ? error
    : new CommandFailure(`Writing the export to ${folder} failed: ${messageOf(error)}. ${advice}`);

/** What takes room, or needs a permission: nothing that is there is touched. */
const stage = <T>(
  folder: string,
  staging: string,
  plan: () => FolderChange<T>,
): FolderChange<T> => {
  try {
    const change = plan();
    for (const [name, text] of [...change.written, change.last])
      writeFileSync(join(staging, name), text);
    return change;
  } catch (error) {
    throw failed(folder, error, "Nothing was changed. Correct that and start the export again.");
  }
};

const put = <T>(folder: string, staging: string, change: FolderChange<T>): T => {
  const [last] = change.last;
  const inPlace = (name: string): void => renameSync(join(staging, name), join(folder, name));
  try {
    for (const name of change.written.keys()) inPlace(name);
    for (const name of change.removed) rmSync(join(folder, name), { force: true });
    inPlace(last);
    return change.result;
  } catch (error) {
    throw failed(folder, error, "Correct that and start the export again: it completes the files.");
  }
};

/**
 * Changes the files of a folder together: whatever can fail – a full disk, a refused permission, another
 * run – fails before the first of them is touched.
 *
 * @param plan told what to do once no other run writes the folder
 * @throws CommandFailure where it cannot be done
 */
export const writeTogether = <T>(folder: string, plan: () => FolderChange<T>): T => {
  let made: string | undefined;
  let staging: string | undefined;
  try {
    made = makeFolders(folder);
    staging = makeStaging(folder);
    return put(folder, staging, stage(folder, staging, plan));
  } catch (error) {
    throw failed(folder, error, "Nothing was changed. Name another folder with --out.");
  } finally {
    if (staging !== undefined) rmSync(staging, { recursive: true, force: true });
    if (made !== undefined) removeEmpty(folder, made);
  }
};
