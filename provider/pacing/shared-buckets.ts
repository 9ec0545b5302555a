import type { Clock } from "../kernel/clock.js";
import { isConversationError } from "../kernel/errors.js";
import { type BucketStore, memoryBuckets } from "./bucket-store.js";
import { bucketFilePath, fileBuckets } from "./file-buckets.js";
import { assertRedisPackage, redisBuckets, redisNeed } from "./redis-buckets.js";

export interface FallbackOptions {
  /** Buckets of this process only, for as long as the shared ones cannot be reached. */
  readonly local: BucketStore;
  /** Part of each rate that this process uses meanwhile, since others do not notice it. */
  readonly share: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Before the shared buckets are tried again, in milliseconds. */
  readonly againMs: number;
  /** Called the first time that the shared buckets cannot be reached. */
  readonly onLost: (error: unknown) => void;
}

/**
 * Shared buckets that are replaced by local ones while they fail, and come back by themselves.
 *
 * Rejects with failures that are the user's to mend (a ConversationError).
 */
export const withLocalBuckets = (shared: BucketStore, options: FallbackOptions): BucketStore => {
  const { local, share, now, againMs, onLost } = options;
  let againAt = Number.NEGATIVE_INFINITY;
  let isReported = false;
  const lost = (error: unknown): void => {
    if (isConversationError(error)) throw error;
    againAt = now() + againMs;
    if (!isReported) onLost(error);
    isReported = true;
  };
  return {
    change: async (key, change) => {
      try {
        if (now() >= againAt) return await shared.change(key, change);
      } catch (error) {
        lost(error);
      }
      return local.change(key, (kept, time) => change(kept, time, share));
    },
    close: async () => {
      await Promise.all([shared.close(), local.close()]);
    },
  };
};

export interface SharedBucketsOptions {
  readonly clock: Clock;
  /** Left out: shared between the processes of this machine and user only. */
  readonly redisUrl?: string | undefined;
  /** Where XDG_CACHE_HOME is looked up. Default: the process's environment. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Called once, with a sentence for people, when the buckets cannot be shared for a while. */
  readonly onNotice?: ((text: string) => void) | undefined;
  /** Default: the version of Node that runs this. */
  readonly nodeVersion?: string;
}

/** From here on Node's SQLite prints no warning, which would end up in the engine's display. */
const firstQuietMajor = 24;

/** Redis is mostly back within seconds; a try fails at once while there is no connection. */
const redisAgainMs = 2_000;

/** Twenty times as long as a change waits for the file: while others hold it, 5 % of the time is lost. */
const fileAgainMs = 5_000;

/** Machines that lose Redis do not see each other: there may be two. */
const aloneShare = 0.5;

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : "unknown");

/** One for all profiles of a process, as they may be of the same tenant. */
const inProcess = new WeakMap<Clock, BucketStore>();

const localBuckets = (clock: Clock): BucketStore => {
  const known = inProcess.get(clock) ?? memoryBuckets(() => clock.now());
  inProcess.set(clock, known);
  return known;
};

/**
 * Where the buckets are kept: in Redis where an address is given, else in a file of the user's cache
 * folder; on Node 22 in this process. Opens nothing before the first call.
 *
 * @throws ConversationError `SETTINGS_INVALID` where the package for Redis is needed and missing
 */
export const sharedBuckets = (options: SharedBucketsOptions): BucketStore => {
  const { clock, redisUrl, environment = process.env, onNotice } = options;
  const local = localBuckets(clock);
  const now = (): number => clock.now();
  if (redisUrl !== undefined) {
    assertRedisPackage(redisNeed());
    // The failure may quote the address, which often carries a password.
    const onLost = (): void =>
      onNotice?.(
        "Redis, which shares the rate limits, cannot be reached. Going on with half of each rate until it is back.",
      );
    const fallback = { local, share: aloneShare, now, againMs: redisAgainMs, onLost };
    return withLocalBuckets(redisBuckets(redisUrl), fallback);
  }
  const version = options.nodeVersion ?? process.versions.node;
  if (Number.parseInt(version, 10) < firstQuietMajor) return local;
  const path = bucketFilePath(environment);
  const onLost = (error: unknown): void =>
    onNotice?.(
      `The rate limits are not shared with other processes for now: ${path} cannot be used (${reasonOf(error)}).`,
    );
  const fallback = { local, share: 1, now, againMs: fileAgainMs, onLost };
  return withLocalBuckets(fileBuckets({ path }), fallback);
};
