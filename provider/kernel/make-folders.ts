import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/**
 * Makes a folder with those above it that are missing. Node's own way to do so never ends where the
 * system says that a folder is missing whose parent is there, as Linux does below /proc.
 *
 * @param mode of those that are made. Default: as the system has it
 * @returns the outermost folder that was made; undefined where the folder was there already
 * @throws the system's error where one of them cannot be made
 */
export const makeFolders = (folder: string, mode?: number): string | undefined => {
  const parent = dirname(folder);
  if (existsSync(folder) || parent === folder) return undefined;
  const outermost = makeFolders(parent, mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isFolder(folder)) throw error;
    return outermost;
  }
  return outermost ?? folder;
};
