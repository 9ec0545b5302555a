const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const PARENT_CHECK_MS = 1000;

/** The wish of the person, or of the parent process, that everything ends. */
export interface Interruption {
  /** Aborted once, with the name of the signal as its reason. */
  readonly signal: AbortSignal;
  /** Back to what the signals do by default. */
  release(): void;
}

/**
 * Turns Ctrl-C, SIGTERM, SIGHUP and the sudden end of the parent process into one abort. Several
 * signals of one Ctrl-C (the terminal and every parent pass it on) count once.
 */
export const interruption = (): Interruption => {
  const controller = new AbortController();
  const end = (signal: string) => controller.abort(signal);
  for (const signal of SIGNALS) process.on(signal, end);
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid !== parent) end("SIGHUP");
  }, PARENT_CHECK_MS).unref();
  return {
    signal: controller.signal,
    release: () => {
      clearInterval(timer);
      for (const signal of SIGNALS) process.off(signal, end);
    },
  };
};

/** Waits for the first Ctrl-C, SIGTERM, SIGHUP or end of the parent process. Keeps the process alive. */
export const untilInterrupted = async (): Promise<void> => {
  const { signal, release } = interruption();
  const alive = setInterval(() => {}, PARENT_CHECK_MS);
  await new Promise<void>((done) => signal.addEventListener("abort", () => done(), { once: true }));
  clearInterval(alive);
  release();
};
