import type { Clock } from "../../kernel/clock.js";
import { isConversationError } from "../../kernel/errors.js";
import { bucketFilePath } from "./bucket-file.js";
import type { BucketStore } from "./bucket-store.js";
import { fileBuckets } from "./file-buckets.js";
import { withLocalBuckets } from "./local-fallback.js";
import { memoryBuckets } from "./memory-buckets.js";
import { redisBuckets } from "./redis-buckets.js";

export interface SharedBucketsOptions {
  readonly clock: Clock;
  /** Left out: shared between the processes of this machine and user only. */
  readonly redisUrl?: string;
  /** Where XDG_CACHE_HOME is looked up. Default: the process's environment. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Told once, as a sentence for people, when the buckets cannot be shared for a while. */
  readonly onNotice?: (text: string) => void;
  /** Default: the version of Node that runs this. */
  readonly nodeVersion?: string;
}

/** From here on Node's SQLite prints no warning, which would end up in the engine's display. */
const firstQuietMajor = 24;

const redisAgainMs = 2_000;
const fileAgainMs = 5_000;
/** Machines that lose Redis do not see each other: there may be two. */
const aloneShare = 0.5;

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : "unknown");

const throughRedis = (
  { clock, onNotice }: SharedBucketsOptions,
  url: string,
  local: BucketStore,
): BucketStore =>
  withLocalBuckets(redisBuckets(url), {
    local,
    share: aloneShare,
    now: () => clock.now(),
    againMs: redisAgainMs,
    isFatal: (error) => isConversationError(error),
    // The failure may quote the address, which often carries a password.
    onLost: () =>
      onNotice?.(
        "Redis, which shares the rate limits, cannot be reached. Going on with half of each rate until it is back.",
      ),
  });

const throughFile = (
  { clock, environment = process.env, onNotice }: SharedBucketsOptions,
  local: BucketStore,
): BucketStore => {
  const path = bucketFilePath(environment);
  return withLocalBuckets(fileBuckets({ path }), {
    local,
    share: 1,
    now: () => clock.now(),
    againMs: fileAgainMs,
    onLost: (error) =>
      onNotice?.(
        `The rate limits are not shared with other processes for now: ${path} cannot be used (${reasonOf(error)}).`,
      ),
  });
};

/** One for all profiles of a process, as they may be of the same tenant. */
const inProcess = new WeakMap<Clock, BucketStore>();

const localBuckets = (clock: Clock): BucketStore => {
  const known = inProcess.get(clock) ?? memoryBuckets(() => clock.now());
  inProcess.set(clock, known);
  return known;
};

/**
 * Where the buckets are kept: in Redis where an address is given, else in a file of the user's cache
 * folder; on Node 22 in this process. Opens nothing before the first call, and never fails but for
 * `SETTINGS_INVALID` where the package for Redis is missing.
 */
export const sharedBuckets = (options: SharedBucketsOptions): BucketStore => {
  const local = localBuckets(options.clock);
  if (options.redisUrl !== undefined) return throughRedis(options, options.redisUrl, local);
  const version = options.nodeVersion ?? process.versions.node;
  return Number.parseInt(version, 10) >= firstQuietMajor ? throughFile(options, local) : local;
};
