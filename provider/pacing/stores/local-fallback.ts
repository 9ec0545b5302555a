import type { BucketStore, Change } from "./bucket-store.js";

export interface FallbackOptions {
  /** Buckets of this process only, for as long as the shared ones cannot be reached. */
  readonly local: BucketStore;
  /** Part of each rate that this process uses meanwhile, since others do not notice it. */
  readonly share: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Before the shared buckets are tried again, in milliseconds. */
  readonly againMs: number;
  /** Failures that are the user's to mend: they are passed on. */
  readonly isFatal?: (error: unknown) => boolean;
  /** Told the first time that the shared buckets cannot be reached. */
  readonly onLost: (error: unknown) => void;
}

/** Shared buckets that are replaced by local ones while they fail, and come back by themselves. */
export const withLocalBuckets = (shared: BucketStore, options: FallbackOptions): BucketStore => {
  const { local, share, now, againMs } = options;
  let againAt = Number.NEGATIVE_INFINITY;
  let said = false;
  const lost = (error: unknown): void => {
    if (options.isFatal?.(error)) throw error;
    againAt = now() + againMs;
    if (!said) options.onLost(error);
    said = true;
  };
  const either = async <T>(
    useShared: () => T | Promise<T>,
    useLocal: () => T | Promise<T>,
  ): Promise<T> => {
    if (now() < againAt) return useLocal();
    try {
      return await useShared();
    } catch (error) {
      lost(error);
      return useLocal();
    }
  };
  const slower =
    <R>(change: Change<R>): Change<R> =>
    (state, time) =>
      change(state, time, share);
  return {
    change: (key, change) =>
      either(
        () => shared.change(key, change),
        () => local.change(key, slower(change)),
      ),
    close: async () => {
      await Promise.all([shared.close(), local.close()]);
    },
  };
};
