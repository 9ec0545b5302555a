#!/usr/bin/env node
import { assertNode } from "../kernel/node-version.js";

const parentCheckMs = 1000;

/** Serves the plugin until the engine ends it, or is gone. A signal waits for the calls that were sent. */
const serve = async (): Promise<void> => {
  assertNode();
  const [{ servePlugin }, { allAnswered }] = await Promise.all([
    import("./server.js"),
    import("./protocol.js"),
  ]);
  const { port, cancel } = await servePlugin();
  const end = (): void => {
    cancel();
    void allAnswered().then(() => process.exit());
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, end);
  // An engine that is killed sends no signal.
  const { ppid } = process;
  setInterval(() => process.ppid === ppid || end(), parentCheckMs).unref();
  // The engine reads the port from the first line.
  process.stdout.write(`${port}\n`);
};

serve().catch((error) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
