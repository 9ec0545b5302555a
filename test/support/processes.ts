import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { isRunning, markedProcesses } from "../../provider/pulumi-cli/processes.js";

const read = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
};

/** Processes below a process, by what their command line holds (Linux). */
export const descendants = (root: number, holds: string): readonly number[] => {
  const parents = new Map(
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(
        (name) =>
          [
            Number(name),
            Number(
              read(`/proc/${name}/stat`)
                .replace(/^.*\) /, "")
                .split(" ")[1],
            ),
          ] as const,
      ),
  );
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

/** Whatever runs with this mark. */
export const markedWith = (mark: string): readonly number[] =>
  markedProcesses(markVariable, new Set([mark]));

/** Until nothing runs with this mark, or the time is over: a process that is killed leaves others at work. */
export const goneWith = async (mark: string, withinMs = 60_000): Promise<void> => {
  const start = performance.now();
  while (markedWith(mark).length > 0 && performance.now() - start < withinMs) await pause(20);
};

/** Ends a process and all below it, at once and without warning. */
export const killTree = (child: ChildProcess): void => {
  if (child.pid === undefined || child.exitCode !== null) return;
  // Found before it goes, as what is below it is given to another parent then.
  const below = descendants(child.pid, "");
  child.kill("SIGKILL");
  for (const pid of below) if (isRunning(pid)) process.kill(pid, "SIGKILL");
};
