import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import {
  inGoodOrder,
  markedProcesses,
  outermost,
  questionsOf,
  send,
  startedBy,
  startedVariable,
} from "./processes.js";

/* Runs beside a command, as a separate process. Each line of its input reports that a command is about
   to start (+1), that it has an id (+1 4711), or that it has ended (-1). The end of the input means
   that the parent process has ended. */

/** Time for commands to end by themselves: Pulumi releases its lock. */
const graceMs = 2500;
const lookEveryMs = 50;

/** A command that was about to start when its parent ended shows its mark only a moment later. */
const quietMs = 500;

/** Longer than any system needs to end a process that it can end. */
const longestMs = 60_000;

const readInput = async () => {
  const open = new Map<string, number>();
  let isDone = false;
  const lines = createInterface({ input: process.stdin });
  lines.on("line", (line) => {
    const [which = "", pid = ""] = line.slice(1).split(" ");
    if (line === inGoodOrder) isDone = true;
    else if (line.startsWith("-")) open.delete(which);
    else open.set(which, Number(pid));
  });
  await once(lines, "close");
  return { open, isDone };
};

/**
 * The remaining processes, and those to ask to end. If marks are not visible: the groups of the
 * commands.
 */
const leftOf = (marks: ReadonlySet<string>, commands: readonly number[]) => {
  if (process.platform === "linux") {
    const all = markedProcesses(startedVariable, marks);
    return { all, first: outermost(all) };
  }
  const groups = commands.filter((pid) => pid > 0 && send(-pid, 0));
  return { all: groups.map((pid) => -pid), first: groups };
};

const endAll = async (by: string, open: ReadonlyMap<string, number>): Promise<void> => {
  const marks = new Set([
    questionsOf(by),
    ...[...open.keys()].map((which) => startedBy(by, which)),
  ]);
  const start = performance.now();
  const asked = new Set<number>();
  let seenAt = start;
  for (let now = start; now < start + longestMs; now = performance.now()) {
    const { all, first } = leftOf(marks, [...open.values()]);
    if (all.length > 0) seenAt = now;
    else if (now > seenAt + quietMs) return;
    if (now > start + graceMs) for (const pid of all) send(pid, "SIGKILL");
    // A command ends its own children, and would treat their end as a failure.
    else
      for (const pid of first.filter((each) => !asked.has(each))) {
        asked.add(pid);
        send(pid, "SIGTERM");
      }
    await pause(lookEveryMs);
  }
};

const main = async (by: string): Promise<void> => {
  // It ends only when it has nothing left to do.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);
  const { open, isDone } = await readInput();
  if (open.size > 0 || !isDone) await endAll(by, open);
};

void main(process.argv[2] ?? "").finally(() => process.exit());
