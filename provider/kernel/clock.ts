/** The service client's clock. Tests replace it to avoid waiting. */
export interface Clock {
  /** Returns monotonic time in milliseconds, unaffected by changes to the wall clock. Never fails. */
  now(): number;
  /** Returns wall-clock time in milliseconds since 1970. Used only for dates that the service sends. Never fails. */
  wall(): number;
  /** Waits for `ms` milliseconds. Fails only if the signal aborts first, with the signal's reason. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

const longestTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: performance.now.bind(performance),
  wall: Date.now,
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

/**
 * The same work, or a failure as soon as the signal fires: for work that leaves nothing to clean up,
 * or goes on for others.
 *
 * @param failure default: the reason of the signal
 */
export const unlessAborted = <T>(
  signal: AbortSignal | undefined,
  work: Promise<T>,
  failure: () => unknown = () => signal?.reason,
): Promise<T> => {
  if (!signal) return work;
  return new Promise<T>((resolve, reject) => {
    const stop = () => reject(failure());
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
};
