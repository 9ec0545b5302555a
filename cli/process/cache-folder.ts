import { homedir } from "node:os";
import { join } from "node:path";

/** Where this package keeps files of the user that it can do without. */
export const cacheFolder = (env: NodeJS.ProcessEnv): string =>
  join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), ".cache"), "pulumi-conversation");
