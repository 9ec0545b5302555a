import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeFolders } from "../../provider/kernel/files.js";
import { CommandFailure, messageOf } from "../command.js";
import type { ProjectFile } from "./template-project.js";

/** What may be in a folder before a project is made there. */
const harmless = new Set([".git", ".gitattributes", "LICENSE", "LICENSE.md"]);

/** @throws CommandFailure where something is in the way; nothing was made then */
export const assertRoom = (folder: string): void => {
  const isFile = existsSync(folder) && !statSync(folder).isDirectory();
  if (isFile)
    throw new CommandFailure(
      `${folder} is a file, and no folder. Nothing was made. Name a new folder: pulumi-conversation init <folder>`,
    );
  const found = existsSync(folder) ? readdirSync(folder).filter((name) => !harmless.has(name)) : [];
  if (found.length === 0) return;
  const named = found.slice(0, 5).join(", ") + (found.length > 5 ? ", …" : "");
  throw new CommandFailure(
    `${folder} is not empty (${named}). Nothing was made. Name a new folder: pulumi-conversation init <folder>`,
  );
};

const writeFile = (folder: string, { path, text, executable }: ProjectFile): void => {
  const file = join(folder, path);
  makeFolders(dirname(file));
  writeFileSync(file, text, { mode: executable ? 0o755 : 0o644, flag: "wx" });
};

/** Writes the files of a project. @throws CommandFailure where the folder cannot be written */
export const writeProject = (folder: string, files: readonly ProjectFile[]): void => {
  try {
    for (const file of files) writeFile(folder, file);
  } catch (error) {
    throw new CommandFailure(
      `Making the project in ${folder}: it cannot be written: ${messageOf(error)}. Name another folder: pulumi-conversation init <folder>`,
    );
  }
};
