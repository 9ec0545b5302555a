import type { CommandRun } from "../command.js";
import { untilSignal } from "../process/until-signal.js";
import { type Progress, progressOn } from "./progress.js";

/** What a command that takes a while is done with: it tells how far it is, and ends when it is told to. */
export interface CommandWork {
  /** On standard error, so that the output stays the command's own. */
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** Runs a command that takes a while; a signal ends it, with exit code 130. */
export const withProgress = <T>(
  session: CommandRun,
  work: (work: CommandWork) => Promise<T>,
): Promise<T> => {
  const isTTY = session.coloured && process.stderr.isTTY === true;
  const columns = process.stderr.columns ?? 80;
  const progress = progressOn({ isTTY, columns, write: session.err });
  return untilSignal((signal) => work({ progress, signal }));
};
