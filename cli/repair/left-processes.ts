import { readdirSync, realpathSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { isPulumi, type ProcessFacts, processFacts } from "../../provider/stacks/pulumi-process.js";
import { isRunning, signalProcess } from "../process/process-group.js";

const deepest = 12;

/** Whether the command line that started a process still lives. */
const isOfLiveRun = ({ parent }: ProcessFacts, depth = 0): boolean => {
  const above = parent > 1 && depth < deepest ? processFacts(parent) : undefined;
  return above !== undefined && (isPulumi(above) || isOfLiveRun(above, depth + 1));
};

const isProvider = ({ args }: ProcessFacts): boolean =>
  args.some((arg) => /[\\/]cmd[\\/]dynamic-provider([\\/]|$)/.test(arg));

/**
 * Processes of dynamic providers that a killed run of a project has left: they wait for ever, and what
 * they had sent may still be answered. Only where the system tells of processes (Linux).
 *
 * @param folder folder of the project
 */
export const leftProcesses = (folder: string, project: string): readonly number[] => {
  if (process.platform !== "linux") return [];
  const here = realpathSync(folder);
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      const facts = Number.isInteger(pid) ? processFacts(pid) : undefined;
      if (!facts || facts.folder !== here || !isProvider(facts)) return false;
      const of = facts.env.PULUMI_PROJECT ?? facts.env.PULUMI_NODEJS_PROJECT;
      return (of === undefined || of === project) && !isOfLiveRun(facts);
    });
};

const lookEveryMs = 50;
const patienceMs = 3000;

const isGoneWithin = async (pid: number, limitMs: number): Promise<boolean> => {
  const deadline = performance.now() + limitMs;
  while (isRunning(pid)) {
    if (performance.now() > deadline) return false;
    await pause(lookEveryMs);
  }
  return true;
};

/** Asks a process to end, and ends it where it does not. @returns whether it is gone */
export const endProcess = async (pid: number): Promise<boolean> => {
  signalProcess(pid, "SIGINT");
  if (await isGoneWithin(pid, patienceMs)) return true;
  signalProcess(pid, "SIGKILL");
  return isGoneWithin(pid, patienceMs);
};
