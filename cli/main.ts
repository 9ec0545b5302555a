#!/usr/bin/env node
// Nothing else is imported before the version is known to be new enough: an older Node could not even load it.
import { isConversationError } from "../provider/kernel/errors.js";
import { assertNode } from "../provider/kernel/node-version.js";

const start = async (): Promise<void> => {
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", ({ code, message }: NodeJS.ErrnoException) => {
      // The reader of the output, such as `head`, is gone: nobody is left to report to.
      if (code === "EPIPE") return;
      if (stream === process.stdout)
        process.stderr.write(`error: Cannot write the output: ${message}\n`);
      process.exit(1);
    });
  const { runProgram } = await import("./program.js");
  process.exitCode = await runProgram(process.argv.slice(2));
  // A connection that somebody keeps open must not keep the process alive.
  setTimeout(() => process.exit(), 2000).unref();
};

try {
  assertNode();
  void start();
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  console.error(message);
  process.exitCode = 1;
  // What `reportedFailure` of program.ts gives, which such a Node could not load.
  if (isConversationError(error) && process.argv.includes("--json")) {
    const failure = {
      code: error.code,
      message,
      advice: "Install Node.js 24 (https://nodejs.org).",
      exitCode: 1,
    };
    console.log(JSON.stringify({ error: failure }, null, 2));
  }
}
