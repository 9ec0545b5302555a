import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { CommandFailure } from "../command.js";
import { wrappedText } from "../terminal/columns.js";

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

/** What the person sees. */
interface Shown {
  write(text: string | Uint8Array): unknown;
}

/** Shows everything but what is typed while it is muted. */
class MutedOutput extends Writable {
  muted = false;
  readonly #shown: Shown;

  constructor(shown: Shown) {
    super();
    this.#shown = shown;
  }

  override _write(chunk: Buffer, _: string, done: () => void): void {
    if (!this.muted) this.#shown.write(chunk);
    done();
  }
}

const asked = async (
  text: string,
  secret: boolean,
  input: NodeJS.ReadableStream,
  shown: Shown,
): Promise<string> => {
  const output = new MutedOutput(shown);
  const lines = createInterface({ input, output, terminal: true });
  const stopped = Promise.withResolvers<never>();
  const stop = () => stopped.reject(new CommandFailure("Stopped. Nothing was made.", 130));
  lines.once("SIGINT", stop);
  lines.once("close", stop);
  try {
    const answer = lines.question(text);
    output.muted = secret;
    return (await Promise.race([answer, stopped.promise])).trim();
  } finally {
    output.muted = false;
    if (secret) shown.write("\n");
    // Only this one: with the others the interface lets go of the keys, which it would go on showing.
    lines.off("close", stop);
    lines.close();
  }
};

/**
 * Asks a person until the answer is good. Default: at the terminal.
 *
 * @throws CommandFailure with exit code 130 where the person stops
 */
export const askPerson =
  (input: NodeJS.ReadableStream = process.stdin, shown: Shown = process.stderr): Ask =>
  async ({ text, proposal, secret, problem }) => {
    const question = `${text}${proposal ? ` (${proposal})` : ""}: `;
    for (;;) {
      const given = await asked(question, secret === true, input, shown);
      const answer = given || (proposal ?? "");
      const wrong = problem?.(answer);
      if (!wrong) return answer;
      shown.write(`${wrappedText(wrong, "  ").join("\n")}\n`);
    }
  };
