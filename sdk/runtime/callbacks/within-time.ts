import type { Clock } from "../../../provider/kernel/clock.js";

/** A limit for one piece of work. */
export interface TimeLimit {
  readonly clock: Clock;
  /** In milliseconds. */
  readonly ms: number;
  /** Makes the error for work that takes longer. */
  readonly late: () => Error;
}

/**
 * Does work for so long at most. The signal that the work gets ends when the time is over, with the
 * error; what the work makes of it later does not matter any more.
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
