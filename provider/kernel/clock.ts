/** The time of the service client. Tests replace it, so that they do not have to wait. */
export interface Clock {
  /** Monotonic milliseconds: changes of the wall clock have no effect. */
  now(): number;
  /** Wall clock in milliseconds since 1970; only for dates that the service sends. */
  wall(): number;
  /** Waits. Rejects with the signal's reason if the signal aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

const longestTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  // A plain timer: that of node:timers/promises creates an error with a stack for every canceled
  // wait.
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const cutShort = (): void => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const over = (): void => {
        signal?.removeEventListener("abort", cutShort);
        resolve();
      };
      const timer = setTimeout(over, Math.min(Math.max(0, ms), longestTimerMs));
      signal?.addEventListener("abort", cutShort, { once: true });
    }),
};
