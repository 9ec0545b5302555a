import { existsSync, lstatSync, mkdirSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Creates a folder and any missing parents. Used instead of the Node.js function, which never
 * returns if the system reports a folder as missing although its parent exists, as Linux does below
 * /proc.
 *
 * @param mode of the created folders. Default: the system's
 * @returns the outermost folder that was created; undefined if the folder already existed
 * @throws the system's error if one of them cannot be created
 */
export const makeFolders = (folder: string, mode?: number): string | undefined => {
  const parent = dirname(folder);
  if (existsSync(folder) || parent === folder) return undefined;
  const outermost = makeFolders(parent, mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Another process may have created it in the meantime.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
    return outermost;
  }
  return outermost ?? folder;
};

/**
 * Undefined on Windows, where others do not write into a user's folders, and none of this is
 * checked.
 */
const user = process.getuid?.();

const isOurs = ({ uid }: Stats): boolean => user === undefined || uid === user;

/** Bits of a mode that permit something to the group and others. */
const writing = 0o022;

const anything = 0o077;

const sticky = 0o1000;

const mayOthers = ({ mode }: Stats, bits: number): boolean =>
  user !== undefined && (mode & bits) !== 0;

const lookAt = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false });

/**
 * Whether a path is certainly a folder (not a link) that this user owns and that no one else can
 * write to or, if requested, read.
 *
 * @param closed whom the folder excludes: other writers, or other readers as well
 */
export const isOwnFolder = (path: string, closed: "writers" | "readers" = "writers"): boolean => {
  const facts = lookAt(path);
  if (!facts?.isDirectory() || !isOurs(facts)) return false;
  return !mayOthers(facts, closed === "writers" ? writing : anything);
};

/**
 * Creates a folder for this user, if it does not exist, in a location that other users may share.
 *
 * @throws Error if it cannot be created, or if something else has its name (left unchanged)
 */
export const makeOwnFolder = (path: string): void => {
  if (!lookAt(path)) makeFolders(path, 0o700);
  if (isOwnFolder(path)) return;
  throw new Error(
    `${path} was not used: it must be a folder, not a link, that this user owns and that only this user can write to. Correct this (chmod 700), or set XDG_CACHE_HOME to another folder`,
  );
};

/**
 * Whether this user's files in a folder are safe from replacement by other users. On most systems,
 * the sticky bit makes this true of the shared folder for temporary files.
 */
export const keepsWhatIsOurs = (folder: string): boolean => {
  const facts = statSync(folder, { throwIfNoEntry: false });
  if (!facts || (!isOurs(facts) && facts.uid !== 0)) return false;
  return !mayOthers(facts, writing) || (facts.mode & sticky) !== 0;
};

/**
 * Asserts that a path may be opened, replaced, and removed: it does not exist, or it is a regular
 * file that this user owns.
 *
 * @throws Error if anything else is there
 */
export const assertOwnFile = (path: string): void => {
  const facts = lookAt(path);
  if (facts && !(facts.isFile() && isOurs(facts)))
    throw new Error(`${path} was not used: it is not a regular file that this user owns`);
};
