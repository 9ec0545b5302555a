import { CommandFailure } from "../command.js";
import { interruption } from "../process/interruption.js";

/** Does work that a signal ends: with exit code 130 then, and with everything taken away again. */
export const untilSignal = async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const { signal, release } = interruption();
  try {
    return await work(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new CommandFailure("Interrupted. Nothing was written, and nothing is left behind.", 130);
  } finally {
    release();
  }
};
