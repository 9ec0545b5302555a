import { homedir } from "node:os";
import { join } from "node:path";
import { makeOwnFolder } from "../../provider/kernel/files.js";

/** Where this package keeps files of the user that it can do without. */
export const cacheFolder = (env: NodeJS.ProcessEnv): string =>
  join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), ".cache"), "pulumi-conversation");

/**
 * The same, made where it is missing.
 *
 * @throws Error where it cannot be had, or is not surely this user's
 */
export const ownCacheFolder = (env: NodeJS.ProcessEnv): string => {
  const folder = cacheFolder(env);
  makeOwnFolder(folder);
  return folder;
};
