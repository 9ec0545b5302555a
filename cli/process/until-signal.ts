import { CommandFailure } from "../command.js";
import { interruption } from "./interruption.js";

/**
 * Does work that a signal ends: with exit code 130 then.
 *
 * @param left what the person is told of it. Default: that everything was taken away again
 */
export const untilSignal = async <T>(
  work: (signal: AbortSignal) => Promise<T>,
  left = "Nothing was written, and nothing is left behind.",
): Promise<T> => {
  const { signal, release } = interruption();
  try {
    return await work(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new CommandFailure(`Interrupted. ${left}`, 130);
  } finally {
    release();
  }
};
