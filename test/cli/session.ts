import type { CommandRun } from "../../cli/command.js";
import { runProgram } from "../../cli/program.js";
import { assertPrinted } from "../support/printed-json.js";

/** A session that keeps what is written, and is interrupted when told. */
export const recordedSession = () => {
  const interrupted = Promise.withResolvers<void>();
  const written = { out: "", err: "" };
  const session: CommandRun = {
    out: (text) => {
      written.out += text;
    },
    err: (text) => {
      written.err += text;
    },
    coloured: false,
    untilInterrupted: () => interrupted.promise,
    exitCode: 0,
  };
  return { session, written, interrupt: interrupted.resolve };
};

/** Runs a command line that ends by itself; JSON that it prints has to be of the documented shape. */
export const run = async (...args: string[]) => {
  const { session, written } = recordedSession();
  const code = await runProgram(args, session);
  assertPrinted(args, written.out);
  return { code, ...written };
};
