import { homedir } from "node:os";
import { join } from "node:path";

/** Where this package keeps Pulumi CLIs that it fetched, one folder per version. */
export const pulumiCacheFolder = (env: NodeJS.ProcessEnv): string =>
  join(env.XDG_CACHE_HOME || join(homedir(), ".cache"), "pulumi-conversation", "pulumi");
