import { type BucketState, holdBack, type Lesson, takeFrom } from "./buckets.js";

interface Kept {
  emptyAt?: number;
  lesson?: Lesson;
}

/**
 * Buckets of this process only.
 *
 * @param now monotonic time in milliseconds
 */
export const memoryBuckets = (now: () => number): BucketState => {
  const buckets = new Map<string, Kept>();
  const keptOf = (key: string): Kept => {
    const kept = buckets.get(key) ?? {};
    buckets.set(key, kept);
    return kept;
  };
  return {
    take: (key, rules) => {
      const kept = keptOf(key);
      const { emptyAt, taken } = takeFrom(kept.emptyAt, now(), rules);
      kept.emptyAt = emptyAt;
      return kept.lesson ? { ...taken, lesson: kept.lesson } : taken;
    },
    hold: (key, hold) => {
      const kept = keptOf(key);
      kept.emptyAt = holdBack(kept.emptyAt, now(), hold);
    },
    learn: (key, lesson) => {
      keptOf(key).lesson = lesson;
    },
    close: async () => {},
  };
};
