import type { Command } from "commander";

/** One run of the command line: where it writes, and how it ends. */
export interface CommandRun {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** The error output for lines that are redrawn, whose writer makes foreign text inert itself. Default: `err`. */
  readonly redraw?: (text: string) => void;
  /** Whether `out` is a terminal that shows colours. */
  readonly coloured: boolean;
  /** Resolves when the person, or the parent process, wants the command to end. */
  readonly untilInterrupted: () => Promise<void>;
  /** Exit code of a run that did not throw: 0 until a command says otherwise. */
  exitCode: number;
  /** Exit code of a wrong command line. Default: 2; a command for which 2 says something else sets its own. */
  wrongLineCode?: number;
}

/** Adds one command to the program. What it needs is loaded when it runs, so that help is instant. */
export type RegisterCommand = (program: Command, run: CommandRun) => void;

/**
 * Something that the person at the terminal can act on. Its message stands alone and is shown
 * without a stack trace; the exit code is 1, or 2 where the command line itself was wrong.
 */
export class CommandFailure extends Error {
  override readonly name = "CommandFailure";

  constructor(
    message: string,
    readonly exitCode: number = 1,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** What a failure says, whatever was thrown: errors of the service too carry a message that stands alone. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
