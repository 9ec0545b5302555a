import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

/**
 * Whether there is a process with this ID. One of another user counts, and one that has ended until
 * its parent has collected it.
 */
export const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
};

/** Sends a signal to a command; SIGKILL also goes to the rest of its process group. */
const signalCommand = ({ pid }: ChildProcess, signal: NodeJS.Signals): void => {
  if (pid === undefined) return;
  const isForGroup = signal === "SIGKILL" && process.platform !== "win32";
  try {
    process.kill(isForGroup ? -pid : pid, signal);
  } catch {
    // It has ended in the meantime.
  }
};

/**
 * Kills what a stopped command has left. Pulumi's plugins are in process groups of their own, and one
 * that is just starting outlives a Pulumi that is asked to end. Only Linux tells them by their
 * session.
 */
const killRest = (child: ChildProcess): void => {
  signalCommand(child, "SIGKILL");
  if (child.pid === undefined || process.platform !== "linux") return;
  spawnSync("pkill", ["-KILL", "-s", String(child.pid)], { stdio: "ignore" });
};

/**
 * How to ask a command to stop: signals, each with its delay after the request, in milliseconds.
 */
export type Stops = readonly { readonly signal: NodeJS.Signals; readonly afterMs: number }[];

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Aborting asks the command to stop, and ends it and its process group if it does not. */
  readonly signal?: AbortSignal | undefined;
  readonly stops?: Stops;
  /** Maximum run time; the command is then stopped. */
  readonly timeoutMs?: number;
  /** Its standard input. Left out: empty. */
  readonly input?: string;
  /** Each line of both outputs, as it arrives. */
  readonly onLine?: (line: string) => void;
  /** Whether `stdout` stays empty, because `onLine` reads it. */
  readonly isStreamed?: true;
}

export interface Ended {
  /** Exit code of the command; undefined if a signal ended it. */
  readonly code: number | undefined;
  /** Complete standard output. */
  readonly stdout: string;
  /** The last lines of standard output and standard error, in order of arrival. */
  readonly lastLines: readonly string[];
  readonly timedOut: boolean;
}

const LAST_LINES = 40;

const STOPS: Stops = [
  { signal: "SIGTERM", afterMs: 0 },
  { signal: "SIGKILL", afterMs: 3000 },
];

/** Time for a command to end that is asked a last time, because this process has to end. */
const HURRY_MS = 3000;

/** Time for the output of a command that has ended; something else may hold it open. */
const OUTPUT_MS = 1000;

/** The commands that are running: each asks its command to hurry, and resolves when it has ended. */
const running = new Set<() => Promise<unknown>>();

/**
 * Ends all commands within three seconds, for a process that has to end. They are asked first:
 * Pulumi's plugins are in process groups of their own, and end only if Pulumi ends them.
 */
export const endCommands = async (): Promise<void> => {
  await Promise.all([...running].map((end) => end()));
};

/**
 * Runs a command to completion in a process group of its own, so that a Ctrl-C in the terminal
 * reaches it only once, through `signal`. What is left of the group when the command or this process
 * ends is killed, unless this process is killed itself.
 *
 * @throws Error if the command cannot be started
 */
export const runCommand = async (
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<Ended> => {
  const {
    cwd,
    env = process.env,
    input,
    onLine,
    isStreamed,
    signal,
    timeoutMs,
    stops = STOPS,
  } = options;
  const child = spawn(command, args, {
    ...(cwd === undefined ? {} : { cwd }),
    env,
    detached: process.platform !== "win32",
    stdio: ["pipe", "pipe", "pipe"],
  });
  const closed = once(child, "close");
  // A command that does not read may have closed it already.
  child.stdin.on("error", () => undefined).end(input);
  const stdout: string[] = [];
  const lastLines: string[] = [];
  const follow = (stream: Readable, lines?: string[]): void => {
    createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on("line", (line) => {
      lines?.push(line);
      lastLines.push(line);
      if (lastLines.length > LAST_LINES) lastLines.shift();
      onLine?.(line);
    });
  };
  follow(child.stdout, isStreamed ? undefined : stdout);
  follow(child.stderr);

  const timers: NodeJS.Timeout[] = [];
  let [isStopped, timedOut] = [false, false];
  const stop = (steps: Stops): void => {
    isStopped = true;
    for (const step of steps)
      timers.push(setTimeout(() => signalCommand(child, step.signal), step.afterMs));
  };
  const abort = (): void => stop(stops);
  const overtime = (): void => {
    timedOut = true;
    abort();
  };
  if (timeoutMs !== undefined) timers.push(setTimeout(overtime, timeoutMs));
  signal?.addEventListener("abort", abort, { once: true });
  if (signal?.aborted) abort();
  const hurry = (): Promise<unknown> => {
    const last = stops.findLast((step) => step.signal !== "SIGKILL");
    const steps: Stops = last ? [{ signal: last.signal, afterMs: 0 }] : [];
    stop([...steps, { signal: "SIGKILL", afterMs: HURRY_MS }]);
    return once(child, "exit").catch(() => undefined);
  };
  running.add(hurry);
  // Before any other exit handler: the command may write into folders that are removed.
  const abandon = (): void => killRest(child);
  process.prependListener("exit", abandon);
  let late: NodeJS.Timeout | undefined;
  const release = (): void => {
    for (const timer of timers) clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
    running.delete(hurry);
    process.off("exit", abandon);
  };
  child.once("exit", () => {
    release();
    if (isStopped) killRest(child);
    else signalCommand(child, "SIGKILL");
    late = setTimeout(() => {
      child.stdout.destroy();
      child.stderr.destroy();
    }, OUTPUT_MS);
  });
  try {
    const [code] = await closed;
    return { code: code ?? undefined, stdout: stdout.join("\n"), lastLines, timedOut };
  } finally {
    clearTimeout(late);
    release();
  }
};
