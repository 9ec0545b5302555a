import type { Clock } from "../../provider/kernel/clock.js";

/** A limit for one piece of work. */
interface TimeLimit {
  readonly clock: Clock;
  /** In milliseconds. */
  readonly ms: number;
  /** Makes the error for work that takes longer. */
  readonly late: () => Error;
}

/**
 * Runs a task with a time limit. When time is up, aborts the task's signal with an error, throws
 * the same error, and ignores later results.
 */
export const withinTime = async <T>(
  { clock, ms, late }: TimeLimit,
  work: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> => {
  const [over, done] = [new AbortController(), new AbortController()];
  const limit = clock.sleep(ms, done.signal).then(() => {
    const error = late();
    over.abort(error);
    throw error;
  });
  try {
    return await Promise.race([(async () => work(over.signal))(), limit]);
  } finally {
    done.abort();
  }
};
