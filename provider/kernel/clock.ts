import { setTimeout as timer } from "node:timers/promises";

/** Time as the service client sees it, so that tests need not wait. */
export interface Clock {
  /** Monotonic milliseconds: changes of the wall clock do not show. */
  now(): number;
  /** Wall clock in milliseconds since 1970; only for dates that the service sends. */
  wall(): number;
  /** Waits; rejects with the signal's reason when the signal is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

const longestTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  sleep: async (ms, signal) => {
    const delay = Math.min(Math.max(0, ms), longestTimerMs);
    await timer(delay, undefined, signal ? { signal } : undefined);
  },
};
