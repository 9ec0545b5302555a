import type { Clock } from "../../provider/kernel/clock.js";
import { withinTime } from "./within-time.js";

/** A message's state. `new`: not claimed yet. `taken`: being handled. `done`: handled. */
export type Taken = "new" | "taken" | "done";

/**
 * Remembers which messages have arrived, so that each is handled once, however often it is
 * delivered. A memory such as `redisMemory` can serve several processes. If a method fails or takes
 * longer than 2 s, the process relies on its own memory and calls `onError`; it reports later
 * failures only after a method has succeeded.
 */
export interface MessageMemory {
  /**
   * Atomically claims a message for the caller if it is new, and returns the previous state. The
   * claim must end soon after the caller's process does.
   *
   * @param key identifies the message
   */
  take(key: string): Promise<Taken>;
  /**
   * Ends the caller's claim. `done`: the message has been handled. `new`: it could not be handled,
   * and counts as new when it arrives again.
   */
  settle(key: string, state: "done" | "new"): Promise<void>;
}

/** So many messages are remembered in this process; those seen longest ago are forgotten first. */
const mostRemembered = 10_000;

/** A memory that does not answer by then is taken for lost. */
const memoryWithinMs = 2_000;

const late = () => new Error("the message memory did not respond in time");

/**
 * Returns the memory of this process, in front of the one that it shares with others, if any. The
 * shared one can fail at any time: a message might then be handled twice, but is never lost.
 *
 * @param report called with the shared memory's first error since it last worked; must not fail
 */
export const createProcessMemory = (
  shared: MessageMemory | undefined,
  clock: Clock,
  report: (error: unknown) => unknown,
): MessageMemory => {
  // `new`: given back here, though the shared memory may still have it as taken.
  const known = new Map<string, "done" | "new">();
  const remember = (key: string, state: "done" | "new"): void => {
    known.delete(key);
    known.set(key, state);
    const [oldest = key] = known.keys();
    if (known.size > mostRemembered) known.delete(oldest);
  };
  let isAway = false;
  const ask = async <T>(use: () => Promise<T>): Promise<T | undefined> => {
    try {
      const answer = await withinTime({ clock, ms: memoryWithinMs, late }, use);
      isAway = false;
      return answer;
    } catch (error) {
      if (!isAway) report(error);
      isAway = true;
      return undefined;
    }
  };
  return {
    take: async (key) => {
      const here = known.get(key);
      if (here === "done") return here;
      const there = shared ? await ask(() => shared.take(key)) : "new";
      // Any other answer, or none, does not say that somebody else has it.
      const isTaken = there === "done" || (there === "taken" && here !== "new");
      return isTaken ? there : "new";
    },
    settle: async (key, state) => {
      // First of all here: the shared memory may take its time, and the message come again meanwhile.
      remember(key, state);
      const tell = async (): Promise<boolean> => {
        await shared?.settle(key, state);
        return true;
      };
      const isTold = shared ? await ask(tell) : true;
      if (isTold && state === "new") known.delete(key);
    },
  };
};
