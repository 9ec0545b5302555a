import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

const read = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
};

const allProcesses = (): readonly number[] =>
  readdirSync("/proc").map(Number).filter(Number.isInteger);

const statOf = (pid: number | string): readonly string[] =>
  read(`/proc/${pid}/stat`)
    .replace(/^.*\) /, "")
    .split(" ");

/** Whether a process runs; one that has ended does not, even if nobody has collected it (Linux). */
export const isRunning = (pid: number): boolean => !["", "Z"].includes(statOf(pid)[0] ?? "");

/** Processes below a process, by what their command line holds (Linux). */
export const descendants = (root: number, holds: string): readonly number[] => {
  const parents = new Map(allProcesses().map((pid) => [pid, Number(statOf(pid)[1])] as const));
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent === root || (parent !== undefined && parent > 1 && isBelow(parent));
  };
  return [...parents.keys()].filter(
    (pid) => isBelow(pid) && read(`/proc/${pid}/cmdline`).includes(holds),
  );
};

/**
 * Stops the providers of a run, so that a call under way stays so: its deadline cannot pass, however slow
 * this machine is. When the run is killed, the system ends what is stopped, too.
 *
 * @returns their ids
 */
export const stopProviders = (
  { pid = 0 }: ChildProcess,
  holds = "dynamic-provider",
): readonly number[] => {
  const providers = descendants(pid, holds);
  for (const provider of providers) process.kill(provider, "SIGSTOP");
  return providers;
};

/** A variable whose value marks whatever a process starts, wherever that goes. */
export const markVariable = "TEST_STARTED";

/** Whether SIGKILL has reached a process: it does nothing more, but on a busy machine it is there for a while. */
const isKilled = (pid: number): boolean =>
  /^(Sig|Shd)Pnd:\s*\w*[13579bdf]\w\w$/m.test(read(`/proc/${pid}/status`));

/** Whatever runs with this mark (Linux). */
export const markedWith = (mark: string): readonly number[] =>
  allProcesses().filter(
    (pid) =>
      read(`/proc/${pid}/environ`).split("\0").includes(`${markVariable}=${mark}`) &&
      !isKilled(pid),
  );

/** A language host looks for its engine every five minutes; until then it waits, and does nothing. */
const isAtWork = (pid: number): boolean =>
  !read(`/proc/${pid}/cmdline`).includes("pulumi-language-");

/** Until nothing is at work with this mark, or the time is over: a process that is killed leaves others at work. */
export const goneWith = async (mark: string, withinMs = 60_000): Promise<void> => {
  const start = performance.now();
  while (markedWith(mark).some(isAtWork) && performance.now() - start < withinMs) await pause(100);
};

/** Ends whatever runs with this mark. */
export const endWith = async (mark: string): Promise<void> => {
  for (let left = markedWith(mark); left.length > 0; left = markedWith(mark)) {
    for (const pid of left) if (isRunning(pid)) process.kill(pid, "SIGKILL");
    await pause(20);
  }
};

/** Ends a process and all below it, at once and without warning. */
export const killTree = (child: ChildProcess): void => {
  if (child.pid === undefined || child.exitCode !== null) return;
  // Found before it goes, as what is below it is given to another parent then.
  const below = descendants(child.pid, "");
  child.kill("SIGKILL");
  for (const pid of below) if (isRunning(pid)) process.kill(pid, "SIGKILL");
};
