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

/* Runs beside a command, as a process of its own. Each line of its input says that a command is about to
   start (+1), that it has an id (+1 4711), or that it has ended (-1). The end of the input is that of the
   process that it watches for. */

/** Time that commands get to end by themselves: Pulumi gives its lock back. */
const graceMs = 2500;
const lookEveryMs = 50;

/** What was about to start when its parent ended shows its mark only a moment later. */
const quietMs = 500;

/** Longer than any system takes to end a process that it can end. */
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

/** What is left, and whom to ask to end. Where marks are not to be seen, the groups of the commands. */
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
    // A command sees to what it has started itself, and would take the end of that for a failure.
    else
      for (const pid of first.filter((each) => !asked.has(each))) {
        asked.add(pid);
        send(pid, "SIGTERM");
      }
    await pause(lookEveryMs);
  }
};

const main = async (by: string): Promise<void> => {
  // It ends when it has nothing more to do, and not before.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);
  const { open, isDone } = await readInput();
  if (open.size > 0 || !isDone) await endAll(by, open);
};

void main(process.argv[2] ?? "").finally(() => process.exit());
