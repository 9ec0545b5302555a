import { type BucketState, holdBack, type Lesson, type Level, takeFrom } from "./buckets.js";

interface Kept {
  level: Level;
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
    const kept = buckets.get(key) ?? { level: {} };
    buckets.set(key, kept);
    return kept;
  };
  return {
    take: (key, rules) => {
      const kept = keptOf(key);
      const { level, taken } = takeFrom(kept.level, now(), rules);
      kept.level = level;
      return kept.lesson ? { ...taken, lesson: kept.lesson } : taken;
    },
    hold: (key, hold) => {
      const kept = keptOf(key);
      kept.level = holdBack(kept.level, now(), hold);
    },
    learn: (key, lesson) => {
      keptOf(key).lesson = lesson;
    },
    close: async () => {},
  };
};
