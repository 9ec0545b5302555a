import { readdirSync, realpathSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { type ProcessFacts, processFacts } from "../../provider/stacks/pulumi-process.js";
import { isOwnProcess, isRunning, signalProcess } from "../process/process-group.js";

const isProvider = ({ args }: ProcessFacts): boolean =>
  args.some((arg) => /[\\/]cmd[\\/]dynamic-provider([\\/]|$)/.test(arg));

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const told = (is: boolean): void => {
      socket.destroy();
      resolve(is);
    };
    socket.once("connect", () => told(true)).once("error", () => told(false));
  });

/** Whether the engine that a provider serves is gone; its address is the last word of the command line. */
const isLeft = async ({ args }: ProcessFacts): Promise<boolean> => {
  const [, port] = /^127\.0\.0\.1:(\d+)$/.exec(args.at(-1) ?? "") ?? [];
  return port !== undefined && !(await listens(Number(port)));
};

/**
 * Processes of dynamic providers that a killed run of a project has left: they wait for ever, and what
 * they had sent may still be answered. Only where the system tells of processes (Linux).
 *
 * @param folder folder of the project
 */
export const leftProcesses = async (
  folder: string,
  project: string,
): Promise<readonly number[]> => {
  if (process.platform !== "linux") return [];
  const here = realpathSync(folder);
  const found: number[] = [];
  for (const pid of readdirSync("/proc").map(Number)) {
    const facts = Number.isInteger(pid) && isOwnProcess(pid) ? processFacts(pid) : undefined;
    if (!facts || facts.folder !== here || !isProvider(facts)) continue;
    const of = facts.env.PULUMI_PROJECT ?? facts.env.PULUMI_NODEJS_PROJECT;
    if ((of === undefined || of === project) && (await isLeft(facts))) found.push(pid);
  }
  return found;
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
