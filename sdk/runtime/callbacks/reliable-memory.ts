import type { Clock } from "../../../provider/kernel/clock.js";
import { type MessageMemory, RecentStates, type Taken } from "./message-memory.js";
import { withinTime } from "./within-time.js";

/** A memory that does not answer by then is taken for lost. */
const memoryWithinMs = 2_000;

/** So many messages are remembered here. */
const mostRemembered = 10_000;

const late = () => new Error("the memory of messages did not answer in time");

/**
 * A memory of the caller's that may go away at any moment. What it could not be told this process
 * remembers by itself, until it can be told: better twice than never, and never a message that
 * nobody works on and everybody thinks is taken.
 *
 * @param tell told what the memory fails with; must not fail
 */
export const reliableMemory = (
  memory: MessageMemory,
  clock: Clock,
  tell: (error: unknown) => unknown,
): MessageMemory => {
  // `new`: given back here, though the memory may still have it as taken.
  const untold = new RecentStates<Taken>(mostRemembered);
  // For while the memory is away: of what it was told, too.
  const finished = new RecentStates<"done">(mostRemembered);
  const asked = async <T, F>(use: () => Promise<T>, failed: F): Promise<T | F> => {
    try {
      return await withinTime({ clock, ms: memoryWithinMs, late }, use);
    } catch (error) {
      tell(error);
      return failed;
    }
  };
  const ended = async (key: string, state: Taken, use: () => Promise<void>): Promise<void> => {
    // First of all here: the memory may take its time, and the message come again meanwhile.
    untold.set(key, state);
    const isTold = await asked(async () => {
      await use();
      return true;
    }, false);
    if (isTold) untold.delete(key);
  };
  const done = (key: string): Promise<void> => {
    finished.set(key, "done");
    return ended(key, "done", () => memory.done(key));
  };
  const takenHere = (key: string): Taken => {
    const state = finished.get(key);
    if (state === undefined) untold.set(key, "taken");
    return state ?? "new";
  };
  return {
    done,
    release: (key) => ended(key, "new", () => memory.release(key)),
    take: async (key, leaseMs) => {
      const here = untold.get(key);
      if (here === "done") await done(key);
      if (here === "done" || here === "taken") return here;
      const there = await asked(() => memory.take(key, leaseMs), undefined);
      if (there === undefined) return takenHere(key);
      untold.delete(key);
      return there === "taken" && here === "new" ? "new" : there;
    },
  };
};
