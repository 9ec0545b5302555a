import { writeSync } from "node:fs";
import { untilSignal } from "../../cli/interruption.js";
import { runCommand } from "../../cli/pulumi/processes.js";

/* Runs as a process of its own. "run SCRIPT": a shell script, as commands of this package run Pulumi.
   "hang": work that a signal does not end. "clean": work that ends half a second after one. */

const say = (line: string): void => void writeSync(1, `${line}\n`);

const works: Readonly<Record<string, (signal: AbortSignal) => Promise<unknown>>> = {
  run: (signal) => runCommand("/bin/sh", ["-c", process.argv[3] ?? ""], { signal, onLine: say }),
  hang: () => {
    say("ready");
    return new Promise(() => setInterval(() => undefined, 1000));
  },
  clean: (signal) =>
    new Promise((_, reject) => {
      const alive = setInterval(() => undefined, 1000);
      signal.addEventListener("abort", () =>
        setTimeout(() => {
          clearInterval(alive);
          say("cleaned");
          reject(new Error("interrupted"));
        }, 500),
      );
      say("ready");
    }),
};

const work = works[process.argv[2] ?? ""];
if (work)
  untilSignal(work).catch((error: unknown) => {
    say(error instanceof Error ? error.message : String(error));
    process.exitCode = 130;
  });
