/** `new`: nobody has it yet; `taken`: somebody is at work on it; `done`: it has been worked on. */
export type Taken = "new" | "taken" | "done";

/**
 * Remembers which messages came already, so that each is worked on once however often it is
 * delivered. One memory may serve several processes, such as {@link redisMemory}.
 */
export interface MessageMemory {
  /**
   * Takes a message for the caller, at once and for nobody else.
   *
   * @param key names the message
   * @param leaseMs so long it stays taken, in milliseconds, should the caller never come back to it
   */
  take(key: string, leaseMs: number): Promise<Taken>;
  /** Remembers that a message was worked on. */
  done(key: string): Promise<void>;
  /** Gives a message back that could not be worked on: when it comes again it is new. */
  release(key: string): Promise<void>;
}

/**
 * Remembers in this process, for as long as it lives.
 *
 * @param most so many messages; those seen longest ago are forgotten first. Default: 10,000
 *
 * @example
 * const hub = callbacks({ authenticate, onMessage, memory: processMemory(100_000) });
 */
export const processMemory = (most = 10_000): MessageMemory => {
  const known = new Map<string, Exclude<Taken, "new">>();
  const remember = (key: string, state: Exclude<Taken, "new">): void => {
    known.delete(key);
    known.set(key, state);
    for (const oldest of known.keys()) {
      if (known.size <= most) break;
      known.delete(oldest);
    }
  };
  return {
    take: async (key) => {
      const state = known.get(key);
      remember(key, state ?? "taken");
      return state ?? "new";
    },
    done: async (key) => remember(key, "done"),
    release: async (key) => void known.delete(key),
  };
};
