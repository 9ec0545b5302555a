import type { Command } from "commander";

/** One run of the command line: where it writes, and how it ends. */
export interface Session {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether `out` is a terminal that shows colours. */
  readonly coloured: boolean;
  /** Resolves when the person, or the parent process, wants the command to end. */
  readonly untilInterrupted: () => Promise<void>;
  /** Exit code of a run that did not throw: 0 until a command says otherwise. */
  exitCode: number;
}

/** Adds one command to the program. What it needs is loaded when it runs, so that help is instant. */
export type RegisterCommand = (program: Command, session: Session) => void;
