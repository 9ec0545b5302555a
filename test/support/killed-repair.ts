import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { isRunning } from "../../provider/pulumi-cli/processes.js";
import type { EmulatedProject } from "./emulated-project.js";
import { descendants, killTree } from "./processes.js";

/** When a repair is killed, and what of it. */
export interface RepairKill {
  /** While it reads the state, lists the service, lets go of the lock or writes the state. */
  readonly during: "stack export" | "GET" | "cancel" | "stack import";
  /** The command line alone, or with the Pulumi that it started. */
  readonly victim: "itself" | "all";
}

export const repairKill: fc.Arbitrary<RepairKill | null> = fc.option(
  fc.record({
    during: fc.constantFrom("stack export", "GET", "cancel", "stack import"),
    victim: fc.constantFrom("itself", "all"),
  }),
  { freq: 2 },
);

/** The command line of a process is its words with a NUL behind each. */
const wordsOf = (command: string): string => command.replace(" ", "\0");

/** A `repair --apply` that is killed. @returns whether it was: it may end before */
export const killedRepair = async (
  project: EmulatedProject,
  { during, victim }: RepairKill,
): Promise<boolean> => {
  const calls = (await project.log()).length;
  const child = project.startTool(["repair", "--apply"]);
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const isReached = async (): Promise<boolean> =>
    during === "GET"
      ? (await project.log()).length > calls
      : descendants(child.pid ?? 0, wordsOf(during)).length > 0;
  while (child.exitCode === null && !(await isReached())) await pause(5);
  const wasKilled = child.exitCode === null;
  const below = descendants(child.pid ?? 0, "");
  if (wasKilled && victim === "all") killTree(child);
  if (wasKilled && victim === "itself") child.kill("SIGKILL");
  await ended;
  // A person who looks again finds them at work at first; this waits for them.
  while (below.some(isRunning)) await pause(20);
  return wasKilled;
};
