import type { CommandRun } from "../command.js";
import { untilSignal } from "../process/until-signal.js";
import { type Progress, progressOn } from "./progress.js";

/** What a command that takes a while is done with: it tells how far it is, and ends when it is told to. */
export interface CommandWork {
  /** On standard error, so that the output stays the command's own. */
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** The work of a command, as one step that shows that it is alive. */
export interface CommandStep {
  /** Prints a line of what it does. */
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Runs a command that takes a while; a signal ends it, with exit code 130. */
export const withProgress = <T>(
  session: CommandRun,
  work: (work: CommandWork) => Promise<T>,
  left?: string,
): Promise<T> => {
  const isTTY = session.coloured && process.stderr.isTTY === true;
  const columns = process.stderr.columns ?? 80;
  const progress = progressOn({ isTTY, columns, write: session.redraw ?? session.err });
  return untilSignal((signal) => work({ progress, signal }), left);
};

/**
 * The same for a command that is one step. Nothing is said of its end: the output tells.
 *
 * @param doing what the person is told at once
 * @param left what is told where a signal ends it
 */
export const withStep = <T>(
  session: CommandRun,
  doing: string,
  work: (step: CommandStep) => Promise<T>,
  left?: string,
): Promise<T> =>
  withProgress(
    session,
    async ({ progress, signal }) => {
      const step = progress.step(doing);
      try {
        return await work({ say: step.print, signal });
      } finally {
        step.end();
      }
    },
    left,
  );
