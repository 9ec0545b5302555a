import { hash } from "node:crypto";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { makeFolders } from "../../provider/kernel/files.js";
import { jsonIn } from "../../provider/kernel/json.js";
import { CommandFailure, messageOf } from "../command.js";

/** Folder in which files wait until all of them are written; the run that made it may write. */
export const stagingName = ".conversation-export.partial";

/** Writing takes no longer than this: an older folder was left behind by a run that was killed. */
const longestMs = 60_000;

/** A change to the files of a folder. */
interface FolderChange {
  /** Texts by name; the file that lists the others comes last. */
  readonly written: ReadonlyMap<string, string>;
  /** Names of files to remove. */
  readonly removed: readonly string[];
}

const isThere = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "EEXIST";

/** @throws CommandFailure if another run is writing */
const makeStaging = (folder: string): string => {
  const staging = join(folder, stagingName);
  if (existsSync(staging) && Date.now() - statSync(staging).mtimeMs > longestMs)
    rmSync(staging, { recursive: true });
  try {
    mkdirSync(staging);
  } catch (error) {
    if (!isThere(error)) throw error;
    throw new CommandFailure(
      `Another export is writing to ${folder}. Nothing was changed. Run this export again in a minute.`,
    );
  }
  return staging;
};

/** Removes the folders that were made, unless somebody has put something there. */
const removeEmpty = (folder: string, outermost: string): void => {
  try {
    rmdirSync(folder);
    if (folder !== outermost) removeEmpty(dirname(folder), outermost);
  } catch {
    // Somebody else uses it by now.
  }
};

/**
 * Changes the files of a folder together: whatever can fail – a full disk, a refused permission, another
 * run – fails before the first of them is touched.
 *
 * @param plan says what to do, once no other run writes the folder
 * @throws CommandFailure if it cannot be done
 */
const writeTogether = (folder: string, plan: () => FolderChange): void => {
  let made: string | undefined;
  let staging: string | undefined;
  let advice = "Nothing was changed. Specify another folder with --out.";
  try {
    made = makeFolders(folder);
    staging = makeStaging(folder);
    advice = "Nothing was changed. Fix the problem and run the export again.";
    const { written, removed } = plan();
    for (const [name, text] of written) writeFileSync(join(staging, name), text);
    advice = "Fix the problem and run the export again to complete the files.";
    const names = [...written.keys()];
    for (const name of names.slice(0, -1)) renameSync(join(staging, name), join(folder, name));
    for (const name of removed) rmSync(join(folder, name), { force: true });
    for (const name of names.slice(-1)) renameSync(join(staging, name), join(folder, name));
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    throw new CommandFailure(
      `Writing the export to ${folder} failed: ${messageOf(error)}. ${advice}`,
    );
  } finally {
    if (staging !== undefined) rmSync(staging, { recursive: true, force: true });
    if (made !== undefined) removeEmpty(folder, made);
  }
};

/** The file that records what an export has written. */
const manifestName = ".conversation-export.json";

const manifestSchema = z.object({
  version: z.literal(1),
  /** The project's own part of its `Ownership`. */
  ownership: z.string(),
  /** Digests of the files by name. */
  files: z.record(z.string(), z.string()),
});

type ExportManifest = z.infer<typeof manifestSchema>;

const readText = (path: string): string | undefined =>
  existsSync(path) ? readFileSync(path, "utf8") : undefined;

/** Files that the export ignores: what tools make, and what a person keeps beside it. */
const isForeign = (name: string): boolean =>
  name === ".git" || name === "node_modules" || name === stagingName;

const manifestIn = (folder: string): ExportManifest | undefined => {
  const text = readText(join(folder, manifestName));
  return manifestSchema.safeParse(text === undefined ? undefined : jsonIn(text)).data;
};

const assertWritable = (folder: string): void => {
  let nearest = folder;
  while (!existsSync(nearest)) nearest = dirname(nearest);
  if (!statSync(nearest).isDirectory())
    throw new CommandFailure(
      `${nearest} is a file, not a folder. Nothing was changed. Specify a new folder with --out.`,
    );
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new CommandFailure(
      `Cannot write to ${folder}: ${messageOf(error)}. Nothing was changed. Specify another folder with --out.`,
    );
  }
};

/**
 * Checks the folder before anything is read from the service.
 *
 * @returns what the former export has written there; undefined if the folder is new or empty
 * @throws CommandFailure if it holds something else, or cannot be written
 */
export const formerExport = (folder: string): ExportManifest | undefined => {
  assertWritable(folder);
  if (!existsSync(folder)) return undefined;
  const manifest = manifestIn(folder);
  if (manifest || readdirSync(folder).every(isForeign)) return manifest;
  throw new CommandFailure(
    `${folder} is not empty and was not created by an export. Nothing was changed. Specify a new folder with --out.`,
  );
};

/** A stack's configuration may hold what a person has set since. */
const isKept = (name: string): boolean => /^Pulumi\..+\.yaml$/.test(name);

/**
 * Files that the former export wrote, that were edited since, and that differ from what is to be
 * written.
 */
const editedFiles = (
  folder: string,
  former: ExportManifest | undefined,
  files: ReadonlyMap<string, string>,
): readonly string[] =>
  Object.entries(former?.files ?? {})
    .filter(([name, written]) => {
      const text = isKept(name) ? undefined : readText(join(folder, name));
      return text !== undefined && text !== files.get(name) && hash("sha256", text) !== written;
    })
    .map(([name]) => name);

/** @throws CommandFailure if files of another export or of a person would be lost */
const assertUnchanged = (
  folder: string,
  former: ExportManifest | undefined,
  files: ReadonlyMap<string, string>,
): void => {
  if (JSON.stringify(manifestIn(folder)) !== JSON.stringify(former))
    throw new CommandFailure(
      `Another export wrote to ${folder} in the meantime. Nothing was changed. Run the export again.`,
    );
  const edited = editedFiles(folder, former, files);
  if (edited.length > 0)
    throw new CommandFailure(
      `The export would overwrite files in ${folder} that were edited since the last export: ${edited.join(", ")}. Nothing was changed. ` +
        "Export to a new folder and compare the two folders, or remove these files first.",
    );
};

/**
 * Writes the files of an export in place of those of a former one: all of them or none.
 *
 * @returns names of the files that were left as they are
 * @throws CommandFailure if a person has changed a file that is to be written, another export writes
 *   the same folder, or the files cannot be written
 */
export const writeExport = (
  folder: string,
  files: ReadonlyMap<string, string>,
  ownership: string,
  former: ExportManifest | undefined,
): readonly string[] => {
  const digests = [...files].map(([name, text]) => [name, hash("sha256", text)] as const);
  const manifest = { version: 1, ownership, files: Object.fromEntries(digests) };
  let kept: readonly string[] = [];
  writeTogether(folder, () => {
    assertUnchanged(folder, former, files);
    kept = [...files.keys()].filter((name) => isKept(name) && existsSync(join(folder, name)));
    return {
      written: new Map([
        ...[...files].filter(([name]) => !kept.includes(name)),
        [manifestName, `${JSON.stringify(manifest, null, 2)}\n`],
      ]),
      removed: Object.keys(former?.files ?? {}).filter((name) => !files.has(name) && !isKept(name)),
    };
  });
  return kept;
};
