import type { BucketStore, Kept } from "./bucket-store.js";

/**
 * Buckets of this process only.
 *
 * @param now monotonic time in milliseconds
 */
export const memoryBuckets = (now: () => number): BucketStore => {
  const all = new Map<string, Kept>();
  return {
    change: (key, change) => {
      const { state, result } = change(all.get(key), now(), 1);
      if (state) all.set(key, state);
      return result;
    },
    close: async () => {},
  };
};
