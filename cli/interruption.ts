import { CommandFailure } from "./command.js";
import { endCommands } from "./pulumi/processes.js";

const PARENT_CHECK_MS = 1000;

/** A command that was asked to end ends within this time, whatever it waits for. */
const LONGEST_END_MS = 9000;

/** One Ctrl-C may arrive several times: the terminal and every parent pass it on. */
const SAME_EVENT_MS = 300;

/** Exit code of a command that a signal has ended, as in shells. */
const interruptedCode = 130;

/** A request of the person, or of the parent process, to end everything. */
interface Interruption {
  /** Aborted once, with the name of the signal as its reason. */
  readonly signal: AbortSignal;
  /** Restores the default behavior of the signals. */
  release(): void;
}

/** Reports that the parent process has ended: this one then belongs to another. */
const onOrphaned = (report: () => void): NodeJS.Timeout => {
  const parent = process.ppid;
  return setInterval(() => process.ppid !== parent && report(), PARENT_CHECK_MS).unref();
};

/** Without waiting for anything but the commands that this process has started. */
const giveUp = (): void => void endCommands().then(() => process.exit(interruptedCode));

const giveUpLate = (ms: number): NodeJS.Timeout =>
  setTimeout(() => {
    process.stderr.write(
      `Interrupted: the work in progress did not finish within ${ms / 1000} s.\n`,
    );
    giveUp();
  }, ms).unref();

/**
 * @param parent whether the end of the parent process counts as an interruption
 * @param longestMs how long the end may take. Default: as long as the work takes to clean up
 */
const listen = (
  signals: readonly NodeJS.Signals[],
  parent: boolean,
  longestMs?: number,
): Interruption => {
  const controller = new AbortController();
  let firstAt: number | undefined;
  let late: NodeJS.Timeout | undefined;
  const end = (reason: string) => {
    if (firstAt !== undefined) return;
    firstAt = performance.now();
    if (longestMs !== undefined) late = giveUpLate(longestMs);
    controller.abort(reason);
  };
  const onSignal = (signal: string) => {
    if (firstAt !== undefined && performance.now() - firstAt > SAME_EVENT_MS) giveUp();
    else end(signal);
  };
  for (const signal of signals) process.on(signal, onSignal);
  // The reader of the output, such as `head`, is gone.
  const unread = () => end("SIGPIPE");
  process.stdout.on("error", unread);
  const timer = parent ? onOrphaned(() => end("SIGHUP")) : undefined;
  return {
    signal: controller.signal,
    release: () => {
      clearInterval(timer);
      clearTimeout(late);
      for (const signal of signals) process.off(signal, onSignal);
      process.stdout.off("error", unread);
    },
  };
};

/**
 * Turns Ctrl-C, SIGTERM, SIGHUP, a closed output, and the end of the parent process into one abort.
 * Several signals of one Ctrl-C count once; another Ctrl-C ends this process at once, as does an
 * end that takes too long.
 */
export const interruption = (): Interruption =>
  listen(["SIGINT", "SIGTERM", "SIGHUP"], true, LONGEST_END_MS);

/**
 * Waits for the first Ctrl-C or SIGTERM; does not keep the process alive. A server that was sent to
 * the background, or started with nohup, outlives its terminal; only under npm, whose shell does
 * not pass signals on, the end of the parent counts. Afterwards a signal ends this process at once.
 */
export const untilInterrupted = async (): Promise<void> => {
  const underNpm = process.env.npm_lifecycle_event !== undefined;
  const { signal, release } = listen(["SIGINT", "SIGTERM"], underNpm);
  await new Promise<void>((done) => signal.addEventListener("abort", () => done(), { once: true }));
  setTimeout(release, SAME_EVENT_MS).unref();
};

/** Whether the work itself has said that it was interrupted, and what is left. */
const isOwnInterrupt = (error: unknown): boolean =>
  error instanceof CommandFailure && error.exitCode === interruptedCode;

/**
 * Does work that a signal ends, with exit code 130.
 *
 * @param left what to say about the end. Default: that nothing is left behind
 */
export const untilSignal = async <T>(
  work: (signal: AbortSignal) => Promise<T>,
  left = "Nothing was written or left behind.",
): Promise<T> => {
  const { signal, release } = interruption();
  try {
    return await work(signal);
  } catch (error) {
    if (!signal.aborted || isOwnInterrupt(error)) throw error;
    throw new CommandFailure(`Interrupted. ${left}`, interruptedCode);
  } finally {
    release();
  }
};
