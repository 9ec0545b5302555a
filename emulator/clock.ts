/** Kinds of a clock: the machine's, or one that is moved by hand. */
export const clockKinds = ["real", "manual"] as const;

/** The emulator's time: drives buckets, tokens, signed addresses, `created` and `modified`. */
export interface EmulatorClock {
  readonly kind: (typeof clockKinds)[number];
  /** Milliseconds since 1970. */
  now(): number;
  /**
   * Moves a manual clock on.
   *
   * @throws Error on the real clock, for a step back, and beyond the year 9999
   */
  advance(ms: number): void;
}

const real = (): EmulatorClock => {
  // Monotonic, so that a step of the machine's clock neither fills nor empties a bucket.
  const start = Date.now() - performance.now();
  return {
    kind: "real",
    now: () => start + performance.now(),
    advance: () => {
      throw new Error("The real clock cannot be moved. Start the emulator with --clock manual.");
    },
  };
};

/** A later year has no place in the service's form of a time. */
const lastMoment = Date.UTC(9999, 11, 31);

const manual = (): EmulatorClock => {
  let now = Date.now();
  return {
    kind: "manual",
    now: () => now,
    advance: (ms) => {
      if (!(ms >= 0 && now + ms <= lastMoment))
        throw new Error("The clock goes forward only, by milliseconds, and no further than 9999.");
      now += ms;
    },
  };
};

export const createClock = (kind: EmulatorClock["kind"]): EmulatorClock =>
  kind === "real" ? real() : manual();

/** ISO 8601, GMT, milliseconds: the service's form of a time (public reference). */
export const timestamp = (ms: number): string => new Date(ms).toISOString();

/** The time as the Date header has it, made once for each second. */
export const dateHeader = (clock: EmulatorClock): (() => string) => {
  let known = { second: Number.NaN, text: "" };
  return () => {
    const second = Math.floor(clock.now() / 1000);
    if (known.second !== second) known = { second, text: new Date(second * 1000).toUTCString() };
    return known.text;
  };
};
