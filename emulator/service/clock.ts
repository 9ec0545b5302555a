/** The kinds of clocks: the machine's clock, or a clock that you advance yourself. */
export const clockKinds = ["real", "manual"] as const;

/** The emulator's time. It drives rates, tokens, signed URLs, deliveries, `created`, and `modified`. */
export interface EmulatorClock {
  readonly kind: (typeof clockKinds)[number];
  /** Milliseconds since 1970. */
  now(): number;
  /**
   * Advances a manual clock and runs the scheduled work that is then due.
   *
   * @throws Error on the real clock, or for a step that is not from 0 to 10^12 ms
   */
  advance(ms: number): void;
  /**
   * Runs `work` at this time or later: automatically on the real clock, or when a manual clock
   * advances. Runs it immediately if the time is already past.
   *
   * @returns a function that cancels the work
   */
  schedule(time: number, work: () => void): () => void;
}

const afterMs = (ms: number, work: () => void): (() => void) => {
  const timer = setTimeout(work, Math.max(0, ms)).unref();
  return () => clearTimeout(timer);
};

const realClock = (): EmulatorClock => {
  // Monotonic, so that a step of the machine's clock neither fills nor empties a bucket.
  const start = Date.now() - performance.now();
  const now = (): number => start + performance.now();
  return {
    kind: "real",
    now,
    advance: () => {
      throw new Error(
        "The emulator uses the real clock, which cannot be moved. Start the emulator with --clock manual.",
      );
    },
    schedule: (time, work) => afterMs(time - now(), work),
  };
};

/** About 32 years: more than anything here lasts. */
const longestStepMs = 1e12;

const manualClock = (): EmulatorClock => {
  let now = Date.now();
  const scheduled = new Set<{ readonly time: number; readonly work: () => void }>();
  return {
    kind: "manual",
    now: () => now,
    advance: (ms) => {
      // Beyond the year 275,760 there are no dates.
      if (!(ms >= 0 && ms <= longestStepMs))
        throw new Error("advanceMs must be from 0 to 1,000,000,000,000 milliseconds.");
      now += ms;
      const due = [...scheduled].filter(({ time }) => time <= now);
      for (const each of due.sort((a, b) => a.time - b.time)) {
        scheduled.delete(each);
        each.work();
      }
    },
    schedule: (time, work) => {
      if (time <= now) return afterMs(0, work);
      const each = { time, work };
      scheduled.add(each);
      return () => scheduled.delete(each);
    },
  };
};

export const createClock = (kind: EmulatorClock["kind"]): EmulatorClock =>
  kind === "real" ? realClock() : manualClock();

/** Formats a time as the service does: ISO 8601, GMT, with milliseconds (public reference). */
export const timestamp = (ms: number): string => new Date(ms).toISOString();
