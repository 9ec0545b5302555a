import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CommandFailure } from "../command.js";
import type { ProjectFile } from "./template-project.js";

/** What may be in a folder before a project is made there. */
const harmless = new Set([".git", ".gitattributes", "LICENSE", "LICENSE.md"]);

/** @throws CommandFailure where something is in the way; nothing was made then */
export const assertRoom = (folder: string): void => {
  const found = existsSync(folder) ? readdirSync(folder).filter((name) => !harmless.has(name)) : [];
  if (found.length === 0) return;
  const named = found.slice(0, 5).join(", ") + (found.length > 5 ? ", …" : "");
  throw new CommandFailure(
    `${folder} is not empty (${named}). Nothing was made. Name a new folder: pulumi-conversation init <folder>`,
  );
};

/** Writes the files of a project. */
export const writeProject = (folder: string, files: readonly ProjectFile[]): void => {
  for (const { path, text, executable } of files) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { mode: executable ? 0o755 : 0o644, flag: "wx" });
  }
};
