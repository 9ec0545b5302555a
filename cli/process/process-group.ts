import { readdirSync, readFileSync, statSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

/** Time that what a command started gets to end by itself after it. */
const GRACE_MS = 1000;
const LOOK_EVERY_MS = 50;

/** Sends a signal to a process, or to a group by its number below zero. @returns whether it is there */
export const send = (target: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(target, signal);
  } catch {
    return false;
  }
};

/** Sends a signal to one process; one that has ended is no error. */
export const signalProcess = (pid: number | undefined, signal: NodeJS.Signals): void => {
  if (pid === undefined) return;
  // A command that must be ended takes its helpers with it; one that is asked to end sees to them itself.
  if (signal === "SIGKILL") for (const member of membersOf(pid)) send(member, signal);
  send(pid, signal);
};

/** What Linux tells of a process behind its name, which is in brackets and may hold spaces: state, parent, group, session … */
const statOf = (pid: number): readonly string[] => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
};

const sessionOf = (pid: number): number | undefined => {
  try {
    const [state, , , session] = statOf(pid);
    return state === "Z" ? undefined : Number(session);
  } catch {
    return undefined;
  }
};

/** Whether a process is there; one that has ended but was not collected by its parent is not. */
export const isRunning = (pid: number): boolean =>
  process.platform === "linux" ? sessionOf(pid) !== undefined : send(pid, 0);

const ticksPerSecond = 100;

/** When a process began, in milliseconds since 1970, good to about a second; undefined where that cannot be seen. */
export const startOfProcess = (pid: number): number | undefined => {
  try {
    const ticks = Number(statOf(pid)[19]);
    const booted = Number(/^btime (\d+)/m.exec(readFileSync("/proc/stat", "utf8"))?.[1]);
    const start = (booted + ticks / ticksPerSecond) * 1000;
    return Number.isNaN(start) ? undefined : start;
  } catch {
    return undefined;
  }
};

/**
 * What no other process has, not even a later one with the same number, and what no clock that is set
 * changes: the start of the machine, and the process's since then. Undefined where that cannot be seen.
 */
export const birthOfProcess = (pid: number): string | undefined => {
  try {
    const machine = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const ticks = statOf(pid)[19];
    return ticks === undefined ? undefined : `${machine}/${ticks}`;
  } catch {
    return undefined;
  }
};

const otherProcesses = (): readonly number[] => {
  const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
  return pids.filter((pid) => pid !== process.pid);
};

/** Whether a process is this user's: of others not even the environment is read, which may take for ever. */
export const isOwnProcess = (pid: number): boolean => {
  try {
    return statSync(`/proc/${pid}`).uid === process.getuid?.();
  } catch {
    return false;
  }
};

const hasVariable = (pid: number, name: string, values: ReadonlySet<string>): boolean => {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    const found = variables.find((variable) => variable.startsWith(`${name}=`));
    return found !== undefined && values.has(found.slice(name.length + 1));
  } catch {
    // It has ended in the meantime.
    return false;
  }
};

/**
 * The other processes of this user that carry an environment variable with one of these values. None
 * where the system does not tell the environment of processes (Linux does).
 */
export const markedProcesses = (name: string, values: ReadonlySet<string>): readonly number[] => {
  if (process.platform !== "linux") return [];
  return otherProcesses().filter((pid) => isOwnProcess(pid) && hasVariable(pid, name, values));
};

/** Processes of the session that `leader` opened, also those that moved to a group of their own. */
const membersOf = (leader: number): readonly number[] => {
  if (process.platform !== "linux") return send(-leader, 0) ? [-leader] : [];
  return otherProcesses().filter((pid) => sessionOf(pid) === leader);
};

/** Waits until none of these processes is left; false where the time runs out first. */
const isEmptyWithin = async (left: () => readonly number[], limitMs: number): Promise<boolean> => {
  const deadline = performance.now() + limitMs;
  while (left().length > 0) {
    if (performance.now() > deadline) return false;
    await pause(LOOK_EVERY_MS);
  }
  return true;
};

/**
 * Ends whatever a command, itself gone, has left behind: in its session, or with its mark.
 *
 * @param mark variables of its environment that no other command has
 */
export const endGroup = async (
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
  // One that is just ending shows no mark any more.
  await isEmptyWithin(() => [...left(), ...killed.filter(isRunning)], GRACE_MS);
};

/** Those processes of a list that none of the others has started. */
export const outermost = (pids: readonly number[]): readonly number[] =>
  pids.filter((pid) => {
    try {
      return !pids.includes(Number(statOf(pid)[1]));
    } catch {
      return false;
    }
  });

/** Ends what a killed run has left behind, by its mark: see `markedProcesses`. */
export const endProcessesWith = (name: string, value: string): void => {
  for (const pid of markedProcesses(name, new Set([value]))) send(pid, "SIGKILL");
};
