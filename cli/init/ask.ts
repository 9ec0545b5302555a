import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { CommandFailure } from "../command.js";

/** Puts one question to the person at the terminal. */
export type Ask = (question: Question) => Promise<string>;

export interface Question {
  readonly text: string;
  /** Taken where the answer is empty. */
  readonly proposal?: string;
  /** What is typed is not shown. */
  readonly secret?: true;
  /** What is wrong with an answer, in words; asked again then. */
  readonly problem?: (answer: string) => string | undefined;
}

/** Shows everything but what is typed while it is muted. */
class MutedOutput extends Writable {
  muted = false;

  override _write(chunk: Buffer, _: string, done: () => void): void {
    if (!this.muted) process.stderr.write(chunk);
    done();
  }
}

const asked = async (text: string, secret: boolean): Promise<string> => {
  const output = new MutedOutput();
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  const stopped = Promise.withResolvers<never>();
  lines.once("SIGINT", () => stopped.reject(new CommandFailure("Stopped. Nothing was made.", 130)));
  lines.once("close", () => stopped.reject(new CommandFailure("Stopped. Nothing was made.", 130)));
  try {
    const answer = lines.question(text);
    output.muted = secret;
    return (await Promise.race([answer, stopped.promise])).trim();
  } finally {
    output.muted = false;
    if (secret) process.stderr.write("\n");
    lines.removeAllListeners("close");
    lines.close();
  }
};

/**
 * Asks at the terminal until the answer is good.
 *
 * @throws CommandFailure with exit code 130 where the person stops
 */
export const askTerminal: Ask = async ({ text, proposal, secret, problem }) => {
  const shown = `${text}${proposal ? ` (${proposal})` : ""}: `;
  for (;;) {
    const answer = (await asked(shown, secret === true)) || (proposal ?? "");
    const wrong = problem?.(answer);
    if (!wrong) return answer;
    process.stderr.write(`  ${wrong}\n`);
  }
};
