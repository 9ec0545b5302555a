import { exitsOf, type Session } from "../../cli/command.js";
import { commands, runProgram } from "../../cli/program.js";
import { assertPrinted } from "../support/printed-json.js";

/** A session that keeps what is written, and is interrupted when told. */
export const recordedSession = () => {
  const interrupted = Promise.withResolvers<void>();
  const written = { out: "", err: "" };
  const session: Session = {
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

/** @throws Error that names an exit code which the command does not explain in its help */
const assertExplained = ([name]: readonly string[], code: number): void => {
  const spec = commands.find((each) => each.name === name);
  if (!spec) return;
  const explained = Object.keys(exitsOf(spec));
  if (!explained.includes(String(code)) && !explained.includes("else"))
    throw new Error(`the help of ${name} does not explain exit code ${code}`);
};

/** Runs a command line that ends by itself; JSON and exit code have to be as its help documents them. */
export const run = async (...args: string[]) => {
  const { session, written } = recordedSession();
  const code = await runProgram(args, session);
  await assertPrinted(args, written.out);
  assertExplained(args, code);
  return { code, ...written };
};
