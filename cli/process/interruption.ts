const PARENT_CHECK_MS = 1000;

/** The wish of the person, or of the parent process, that everything ends. */
export interface Interruption {
  /** Aborted once, with the name of the signal as its reason. */
  readonly signal: AbortSignal;
  /** Back to what the signals do by default. */
  release(): void;
}

/** Tells when the parent process has ended: this one then belongs to another. */
const onOrphaned = (tell: () => void): NodeJS.Timeout => {
  const parent = process.ppid;
  return setInterval(() => process.ppid !== parent && tell(), PARENT_CHECK_MS).unref();
};

/** @param parent whether the end of the parent process counts as an interruption */
const listen = (signals: readonly NodeJS.Signals[], parent: boolean): Interruption => {
  const controller = new AbortController();
  const end = (signal: string) => controller.abort(signal);
  for (const signal of signals) process.on(signal, end);
  // Whoever read the output has gone, such as `head`.
  const unread = () => end("SIGPIPE");
  process.stdout.on("error", unread);
  const timer = parent ? onOrphaned(() => end("SIGHUP")) : undefined;
  return {
    signal: controller.signal,
    release: () => {
      clearInterval(timer);
      for (const signal of signals) process.off(signal, end);
      process.stdout.off("error", unread);
    },
  };
};

/**
 * Turns Ctrl-C, SIGTERM, SIGHUP, a closed output and the end of the parent process into one abort.
 * Several signals of one Ctrl-C (the terminal and every parent pass it on) count once.
 */
export const interruption = (): Interruption => listen(["SIGINT", "SIGTERM", "SIGHUP"], true);

/**
 * Waits for the first Ctrl-C or SIGTERM; does not keep the process alive. A server that was sent to
 * the background, or started with nohup, outlives its terminal; only under npm, whose shell does
 * not pass signals on, the end of the parent counts.
 */
export const untilInterrupted = async (): Promise<void> => {
  const underNpm = process.env.npm_lifecycle_event !== undefined;
  const { signal, release } = listen(["SIGINT", "SIGTERM"], underNpm);
  await new Promise<void>((done) => signal.addEventListener("abort", () => done(), { once: true }));
  release();
};
