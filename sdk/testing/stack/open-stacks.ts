import { setTimeout as pause } from "node:timers/promises";

/** A stack that is not closed yet. */
export interface UnfinishedStack {
  /** Ends everything in its time. */
  close(): Promise<void>;
  /** Ends what can be ended at once: the process is about to be gone. */
  abandon(): void;
}

const open = new Set<UnfinishedStack>();

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Time to close everything in, when the process is asked to end. */
const longestMs = 5_000;

const onExit = (): void => {
  for (const stack of open) stack.abandon();
};

const stopListening = (): void => {
  process.off("exit", onExit);
  for (const signal of signals) process.off(signal, onSignal);
};

const onSignal = (signal: NodeJS.Signals): void => {
  // Where a test runner listens as well, it decides when the process ends.
  const isAlone = process.listenerCount(signal) === 1;
  const closed = Promise.allSettled([...open].map((stack) => stack.close()));
  void Promise.race([closed, pause(longestMs)]).then(() => {
    onExit();
    stopListening();
    if (isAlone) process.kill(process.pid, signal);
  });
};

const listen = (): void => {
  process.on("exit", onExit);
  for (const signal of signals) process.on(signal, onSignal);
};

/**
 * Has a stack end with the process where it is not closed before: on Ctrl-C, or where a test runner
 * ends the process.
 *
 * @returns to be called when the stack is closed
 */
export const endWithProcess = (stack: UnfinishedStack): (() => void) => {
  if (open.size === 0) listen();
  open.add(stack);
  return () => {
    if (open.delete(stack) && open.size === 0) stopListening();
  };
};
