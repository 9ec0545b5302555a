import { hash } from "node:crypto";
import { accessSync, constants, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { jsonIn } from "../../provider/kernel/json.js";
import { CommandFailure, messageOf } from "../command.js";
import { stagingName, writeTogether } from "./write-together.js";

/** The file by which an export knows what it has written. */
const manifestName = ".conversation-export.json";

const manifestSchema = z.object({
  version: z.literal(1),
  /** The project's own part of its `Ownership`. */
  ownership: z.string(),
  /** Digests of the files by name. */
  files: z.record(z.string(), z.string()),
});

export type ExportManifest = z.infer<typeof manifestSchema>;

const readText = (path: string): string | undefined =>
  existsSync(path) ? readFileSync(path, "utf8") : undefined;

/** Not the export's business: what tools make, and what a person keeps beside it. */
const isForeign = (name: string): boolean =>
  name === ".git" || name === "node_modules" || name === stagingName;

const manifestIn = (folder: string): ExportManifest | undefined => {
  const text = readText(join(folder, manifestName));
  return manifestSchema.safeParse(text === undefined ? undefined : jsonIn(text)).data;
};

/** The folder itself, or the nearest one above it that is there. */
const nearestFolder = (folder: string): string =>
  existsSync(folder) ? folder : nearestFolder(dirname(folder));

const assertWritable = (folder: string): void => {
  const nearest = nearestFolder(folder);
  if (!statSync(nearest).isDirectory())
    throw new CommandFailure(
      `${nearest} is a file, and no folder. Nothing was changed. Name a new folder with --out.`,
    );
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new CommandFailure(
      `${folder} cannot be written: ${messageOf(error)}. Nothing was changed. Name another folder with --out.`,
    );
  }
};

/**
 * Looks at the folder before anything is read from the service.
 *
 * @returns what the former export has written there; undefined where the folder is new or empty
 * @throws CommandFailure where it holds something else, or cannot be written
 */
export const formerExport = (folder: string): ExportManifest | undefined => {
  assertWritable(folder);
  if (!existsSync(folder)) return undefined;
  const manifest = manifestIn(folder);
  if (manifest || readdirSync(folder).every(isForeign)) return manifest;
  throw new CommandFailure(
    `${folder} is not empty, and no export has written it. Nothing was changed. Name a new folder with --out.`,
  );
};

/** A stack's configuration holds what a person has set since. */
const isKept = (name: string): boolean => /^Pulumi\..+\.yaml$/.test(name);

/** What was written by the former export, is no longer as it was, and is not what is to be written. */
const editedFiles = (
  folder: string,
  former: ExportManifest | undefined,
  files: ReadonlyMap<string, string>,
): readonly string[] =>
  Object.entries(former?.files ?? {}).flatMap(([name, written]) => {
    if (isKept(name)) return [];
    const text = readText(join(folder, name));
    const isOurs =
      text === undefined || text === files.get(name) || hash("sha256", text) === written;
    return isOurs ? [] : [name];
  });

/** @throws CommandFailure where the files of another export, or a person's, would be lost */
const assertUnchanged = (
  folder: string,
  former: ExportManifest | undefined,
  files: ReadonlyMap<string, string>,
): void => {
  if (JSON.stringify(manifestIn(folder)) !== JSON.stringify(former))
    throw new CommandFailure(
      `Another export has written ${folder} meanwhile. Nothing was changed. Start the export again.`,
    );
  const edited = editedFiles(folder, former, files);
  if (edited.length > 0)
    throw new CommandFailure(
      `${edited.join(", ")} in ${folder} changed since the last export, which would be lost. Nothing was changed. ` +
        "Export to a new folder and compare, or remove these files first.",
    );
};

/**
 * Writes the files of an export, in the place of those of a former one: all of them or none.
 *
 * @returns names of the files that were left as they are
 * @throws CommandFailure where a person has changed a file that is to be written, another export writes
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
  return writeTogether(folder, () => {
    assertUnchanged(folder, former, files);
    const kept = [...files.keys()].filter((name) => isKept(name) && existsSync(join(folder, name)));
    return {
      written: new Map([...files].filter(([name]) => !kept.includes(name))),
      removed: Object.keys(former?.files ?? {}).filter((name) => !files.has(name) && !isKept(name)),
      last: [manifestName, `${JSON.stringify(manifest, null, 2)}\n`],
      result: kept,
    };
  });
};
