import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { watchCommand } from "./child-watch.js";
import { endGroup, signalProcess } from "./process-group.js";

/** How to ask a command to stop: signals, each so many milliseconds after the request. */
export type Stops = readonly { readonly signal: NodeJS.Signals; readonly afterMs: number }[];

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Aborting asks the command to stop, and ends it and all it started if it does not. */
  readonly signal?: AbortSignal | undefined;
  readonly stops?: Stops;
  /** Longest run; the command is then stopped. */
  readonly timeoutMs?: number;
  /** What it reads from standard input. Left out: nothing. */
  readonly input?: string;
  /** Each line of both outputs, as it comes. */
  readonly onLine?: (line: string) => void;
}

export interface Ended {
  /** Exit code; undefined where a signal ended it. */
  readonly code: number | undefined;
  /** Standard output, whole. */
  readonly stdout: string;
  /** The last lines of both outputs in the order they came. */
  readonly lastLines: readonly string[];
  readonly timedOut: boolean;
}

const LAST_LINES = 40;

const STOPS: Stops = [
  { signal: "SIGTERM", afterMs: 0 },
  { signal: "SIGKILL", afterMs: 3000 },
];

/** Gathers what a command says while it says it. */
const collect = (out: Readable, err: Readable, onLine: (line: string) => void = () => {}) => {
  const stdout: string[] = [];
  const lastLines: string[] = [];
  const take = (line: string): void => {
    lastLines.push(line);
    if (lastLines.length > LAST_LINES) lastLines.shift();
    onLine(line);
  };
  const crlfDelay = Number.POSITIVE_INFINITY;
  createInterface({ input: out, crlfDelay }).on("line", (line) => {
    stdout.push(line);
    take(line);
  });
  createInterface({ input: err, crlfDelay }).on("line", take);
  return { stdout, lastLines };
};

/** Stops a command when it is told to, or when its time is over. */
const stopper = (pid: number | undefined, { signal, timeoutMs, stops = STOPS }: CommandOptions) => {
  const timers: NodeJS.Timeout[] = [];
  let timedOut = false;
  const stop = () => {
    for (const step of stops)
      timers.push(setTimeout(() => signalProcess(pid, step.signal), step.afterMs));
  };
  const overtime = () => {
    timedOut = true;
    stop();
  };
  if (timeoutMs !== undefined) timers.push(setTimeout(overtime, timeoutMs));
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted) stop();
  return {
    timedOut: () => timedOut,
    settle: () => {
      for (const timer of timers) clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    },
  };
};

/**
 * Runs a command to its end in a process group of its own: a Ctrl-C at the
 * terminal reaches it once, through `signal`, and nothing that it started outlives it. Nor does it
 * outlive this process, also where that is killed.
 */
export const runCommand = (
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<Ended> =>
  new Promise((done, failed) => {
    const watched = watchCommand();
    const child = spawn(command, args, {
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      env: { ...(options.env ?? process.env), ...watched.mark },
      detached: process.platform !== "win32",
      stdio: ["pipe", "pipe", "pipe"],
    });
    watched.started(child.pid);
    // Whoever does not read may have closed it already.
    child.stdin.on("error", () => undefined).end(options.input);
    const { stdout, lastLines } = collect(child.stdout, child.stderr, options.onLine);
    const { settle, timedOut } = stopper(child.pid, options);
    // Should this process itself end in a way that nobody foresaw.
    const abandon = () => signalProcess(child.pid, "SIGKILL");
    // Before anything else that is done then: it may write into folders that are removed.
    process.prependListener("exit", abandon);
    const release = (): void => {
      settle();
      process.off("exit", abandon);
    };
    let swept: Promise<void> | undefined;
    child.on("error", (error) => {
      release();
      watched.ended();
      failed(error);
    });
    child.on("exit", () => {
      release();
      swept = endGroup(child.pid, watched.mark);
    });
    child.on("close", async (code) => {
      await swept;
      watched.ended();
      const text = stdout.join("\n");
      done({ code: code ?? undefined, stdout: text, lastLines, timedOut: timedOut() });
    });
  });
