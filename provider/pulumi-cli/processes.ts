import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";

/** Time for the processes that a command started to end by themselves after it. */
const GRACE_MS = 1000;
const LOOK_EVERY_MS = 50;

/**
 * Sends a signal to a process, or to a process group if `target` is negative.
 *
 * @returns whether the process or group exists
 */
export const send = (target: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(target, signal);
  } catch (error) {
    // Another user's process. Of a group, macOS says so too if only ended processes are left.
    return target > 0 && error instanceof Error && "code" in error && error.code === "EPERM";
  }
};

/**
 * Sends a signal to a process; SIGKILL also goes to the rest of its session. Does not fail if the
 * process has already ended.
 */
export const signalProcess = (pid: number | undefined, signal: NodeJS.Signals): void => {
  if (pid === undefined) return;
  // A command that is killed takes its helpers with it; one that is asked to end handles them
  // itself.
  if (signal === "SIGKILL") for (const member of membersOf(pid)) send(member, signal);
  send(pid, signal);
};

/**
 * Returns the result of `read` for a process; undefined if `read` fails because the process has
 * ended or is hidden from this user.
 */
export const ifReadable = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

/**
 * The fields that Linux shows of a process after its name, which is in brackets and may contain
 * spaces: state, parent, group, session … Undefined if there is no such process.
 */
const statOf = (pid: number): readonly string[] | undefined =>
  ifReadable(() => {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  });

const sessionOf = (pid: number): number | undefined => {
  const [state, , , session] = statOf(pid) ?? [];
  return session === undefined || state === "Z" ? undefined : Number(session);
};

/**
 * Whether a process is running. A process that has ended does not count, even if its parent has not
 * collected it yet.
 */
export const isRunning = (pid: number): boolean =>
  // Linux can be set up to hide the processes of others (hidepid).
  statOf(pid) === undefined ? send(pid, 0) : sessionOf(pid) !== undefined;

const ticksPerSecond = 100;

/** The system gives the time of its start in whole seconds. */
const inexactMs = 1000;

/**
 * Returns the time when a process started, in milliseconds since 1970, accurate to about a second;
 * undefined if unknown.
 */
export const startOfProcess = (pid: number): number | undefined => {
  const machine = ifReadable(() => readFileSync("/proc/stat", "utf8")) ?? "";
  const booted = Number(/^btime (\d+)/m.exec(machine)?.[1]);
  const start = (booted + Number(statOf(pid)?.[19]) / ticksPerSecond) * 1000;
  return Number.isNaN(start) ? undefined : start;
};

/** The name that Linux gives the processes outside of all containers. */
const firstNamespace = "pid:[4026531836]";

/**
 * Whether a process that ran on this machine at a given time, in milliseconds since 1970, would be
 * visible here if it were still running. A container starts with its first process, and nothing
 * outside the container is visible inside it.
 */
export const isInSight = (at: number): boolean =>
  process.platform !== "linux" ||
  ifReadable(() => readlinkSync("/proc/self/ns/pid")) === firstNamespace ||
  at > (startOfProcess(1) ?? Number.POSITIVE_INFINITY) + inexactMs;

/**
 * Returns a value that distinguishes a process even from a later one with the same number;
 * undefined if unknown. The value combines the machine's boot ID with the time from boot to the
 * start of the process, so it does not depend on the clock.
 */
export const birthOfProcess = (pid: number): string | undefined => {
  const machine = ifReadable(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
  const ticks = statOf(pid)?.[19];
  return machine === undefined || ticks === undefined ? undefined : `${machine}/${ticks}`;
};

const otherProcesses = (): readonly number[] => {
  const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
  return pids.filter((pid) => pid !== process.pid);
};

/**
 * Whether a process belongs to this user. The environment of other users' processes is not read,
 * because that might take forever.
 */
export const isOwnProcess = (pid: number): boolean =>
  ifReadable(() => statSync(`/proc/${pid}`).uid === process.getuid?.()) ?? false;

const hasVariable = (pid: number, name: string, values: ReadonlySet<string>): boolean => {
  const variables = ifReadable(() => readFileSync(`/proc/${pid}/environ`, "utf8").split("\0"));
  const found = variables?.find((variable) => variable.startsWith(`${name}=`));
  return found !== undefined && values.has(found.slice(name.length + 1));
};

/**
 * Returns this user's other processes in which an environment variable has one of the given values;
 * empty if the system does not show the environment of processes (Linux does).
 */
export const markedProcesses = (name: string, values: ReadonlySet<string>): readonly number[] => {
  if (process.platform !== "linux") return [];
  return otherProcesses().filter((pid) => isOwnProcess(pid) && hasVariable(pid, name, values));
};

/** Processes of the session that `leader` opened, including those that moved to their own group. */
const membersOf = (leader: number): readonly number[] => {
  if (process.platform !== "linux") return send(-leader, 0) ? [-leader] : [];
  return otherProcesses().filter((pid) => sessionOf(pid) === leader);
};

/** Waits until none of these processes is left; false if the time runs out first. */
const isEmptyWithin = async (left: () => readonly number[], limitMs: number): Promise<boolean> => {
  const deadline = performance.now() + limitMs;
  while (left().length > 0) {
    if (performance.now() > deadline) return false;
    await pause(LOOK_EVERY_MS);
  }
  return true;
};

/**
 * Ends whatever a command that is gone has left behind: in its session, or with its mark.
 *
 * @param mark variables of its environment that no other command has
 */
const endGroup = async (
  leader: number | undefined,
  mark: Readonly<Record<string, string>>,
): Promise<void> => {
  if (leader === undefined || process.platform === "win32") return;
  const left = () => [
    ...membersOf(leader),
    ...Object.entries(mark).flatMap(([name, value]) => markedProcesses(name, new Set([value]))),
  ];
  if (await isEmptyWithin(left, GRACE_MS)) return;
  const killed = left();
  for (const pid of killed) send(pid, "SIGKILL");
  // One that is just ending no longer shows a mark.
  await isEmptyWithin(() => [...left(), ...killed.filter(isRunning)], GRACE_MS);
};

/** Returns the processes in a list that no other process in the list started. */
export const outermost = (pids: readonly number[]): readonly number[] =>
  pids.filter((pid) => {
    const stat = statOf(pid);
    return stat !== undefined && !pids.includes(Number(stat[1]));
  });

/**
 * Ends the processes that a killed run left behind, identified by their mark: see
 * `markedProcesses`.
 */
export const endProcessesWith = (name: string, value: string): void => {
  for (const pid of markedProcesses(name, new Set([value]))) send(pid, "SIGKILL");
};

/**
 * An environment variable inherited by every process that a command starts. It identifies these
 * processes even if they have left their process group, as Pulumi's plugins do.
 */
export const startedVariable = "PULUMI_CONVERSATION_STARTED_BY";

/** Identifies this process, independent of its ID. */
const run = randomBytes(8).toString("hex");

/** Commands that only query, and are not reported, have no number. */
const question = "question";

export const startedBy = (by: string, which: string): string => `${by}-${which}`;
export const questionsOf = (by: string): string => startedBy(by, question);

/**
 * Message to the watcher when this process ends normally, after everything that it started has
 * ended.
 */
export const inGoodOrder = "done";

let watcher: ChildProcess | undefined;
let count = 0;

/**
 * Another process that ends the remaining ones if this one is killed: the end of its input shows
 * that. A terminal's signals do not reach it, and it has no mark itself.
 */
const startWatcher = (): ChildProcess | undefined => {
  const script = join(__dirname, "child-watcher.js");
  if (process.platform === "win32" || !existsSync(script)) return undefined;
  const started = spawn(process.execPath, [script, run], {
    ...{ cwd: "/", env: {}, detached: true, stdio: ["pipe", "ignore", "ignore"] },
  });
  const lost = () => {
    if (watcher === started) watcher = undefined;
  };
  started.on("error", lost).on("exit", lost).unref();
  const input = started.stdin;
  input?.on("error", lost);
  if (input && "unref" in input && typeof input.unref === "function") input.unref();
  process.once("exit", () => input?.write(`${inGoodOrder}\n`));
  return started;
};

const report = (line: string): void => {
  watcher ??= startWatcher();
  watcher?.stdin?.write(`${line}\n`);
};

/** A command that is watched from before its start. */
interface WatchedCommand {
  /** Variables for its environment. */
  readonly mark: Readonly<Record<string, string>>;
  readonly started: (pid: number | undefined) => void;
  /** Call when it has ended, together with what it left behind. */
  readonly ended: () => void;
}

/** Makes a command, and whatever it starts, end with this process, however that ends. */
const watchCommand = (): WatchedCommand => {
  count += 1;
  const which = String(count);
  report(`+${which}`);
  return {
    mark: { [startedVariable]: startedBy(run, which) },
    started: (pid) => report(`+${which} ${pid ?? ""}`),
    ended: () => report(`-${which}`),
  };
};

/**
 * Returns the mark for commands that only query and end soon, and therefore do not have to be
 * reported one by one.
 */
export const watchQuestions = (): WatchedCommand["mark"] => {
  watcher ??= startWatcher();
  return { [startedVariable]: questionsOf(run) };
};

/**
 * How to ask a command to stop: signals, each with its delay after the request, in milliseconds.
 */
export type Stops = readonly { readonly signal: NodeJS.Signals; readonly afterMs: number }[];

interface CommandOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Aborting asks the command to stop, and ends it and everything it started if it does not. */
  readonly signal?: AbortSignal | undefined;
  readonly stops?: Stops;
  /** Maximum run time; the command is then stopped. */
  readonly timeoutMs?: number;
  /** Its standard input. Left out: empty. */
  readonly input?: string;
  /** Each line of both outputs, as it arrives. */
  readonly onLine?: (line: string) => void;
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

/** Collects a command's output while it runs. */
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

/** Stops a command on request, or when its time is over. */
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
 * Runs a command to completion in a separate process group. A Ctrl-C in the terminal reaches the
 * command only once, through `signal`. Neither the command nor anything it started outlives this
 * process, even if this process is killed.
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
    // A command that does not read may have closed it already.
    child.stdin.on("error", () => undefined).end(options.input);
    const { stdout, lastLines } = collect(child.stdout, child.stderr, options.onLine);
    const { settle, timedOut } = stopper(child.pid, options);
    // In case this process itself ends unexpectedly.
    const abandon = () => signalProcess(child.pid, "SIGKILL");
    // Before any other exit handler: the command may write into folders that are removed.
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
