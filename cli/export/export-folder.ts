import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { jsonIn } from "../../provider/kernel/json-text.js";
import { CommandFailure } from "../command.js";

/** The file by which an export knows what it has written. */
export const manifestName = ".conversation-export.json";

const manifestSchema = z.object({
  version: z.literal(1),
  /** The project's own part of its `Ownership`. */
  ownership: z.string(),
  /** Digests of the files by name. */
  files: z.record(z.string(), z.string()),
});

export type ExportManifest = z.infer<typeof manifestSchema>;

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

const readText = (path: string): string | undefined =>
  existsSync(path) ? readFileSync(path, "utf8") : undefined;

/** Not the export's business: what tools make, and what a person keeps beside it. */
const isForeign = (name: string): boolean => name === ".git" || name === "node_modules";

/**
 * Looks at the folder before anything is read from the service.
 *
 * @returns what the former export has written there; undefined where the folder is new or empty
 * @throws CommandFailure where it holds something else
 */
export const formerExport = (folder: string): ExportManifest | undefined => {
  if (!existsSync(folder)) return undefined;
  const text = readText(join(folder, manifestName));
  const { data } = manifestSchema.safeParse(text === undefined ? undefined : jsonIn(text));
  if (data) return data;
  if (readdirSync(folder).every(isForeign)) return undefined;
  throw new CommandFailure(
    `${folder} is not empty, and no export has written it. Nothing was changed. Name a new folder with --out.`,
  );
};

/** A stack's configuration holds what a person has set since. */
const isKept = (name: string): boolean => /^Pulumi\..+\.yaml$/.test(name);

const changedSince = (folder: string, { files }: ExportManifest): readonly string[] =>
  Object.entries(files).flatMap(([name, written]) => {
    if (isKept(name)) return [];
    const text = readText(join(folder, name));
    return text !== undefined && digest(text) !== written ? [name] : [];
  });

/**
 * Writes the files of an export, in the place of those of a former one.
 *
 * @returns names of the files that were left as they are
 * @throws CommandFailure where a person has changed a file that is to be written
 */
export const writeExport = (
  folder: string,
  files: ReadonlyMap<string, string>,
  ownership: string,
  former: ExportManifest | undefined,
): readonly string[] => {
  const edited = former ? changedSince(folder, former) : [];
  if (edited.length > 0)
    throw new CommandFailure(
      `${edited.join(", ")} in ${folder} changed since the last export, which would be lost. Nothing was changed. ` +
        "Export to a new folder and compare, or remove these files first.",
    );
  mkdirSync(folder, { recursive: true });
  for (const name of Object.keys(former?.files ?? {}))
    if (!files.has(name) && !isKept(name)) rmSync(join(folder, name), { force: true });
  const kept = [...files.keys()].filter((name) => isKept(name) && existsSync(join(folder, name)));
  for (const [name, text] of files)
    if (!kept.includes(name)) writeFileSync(join(folder, name), text);
  const digests = [...files].map(([name, text]) => [name, digest(text)] as const);
  const manifest = { version: 1, ownership, files: Object.fromEntries(digests) };
  writeFileSync(join(folder, manifestName), `${JSON.stringify(manifest, null, 2)}\n`);
  return kept;
};
