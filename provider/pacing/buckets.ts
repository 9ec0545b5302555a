/** How a bucket is to be used for one call. */
export interface BucketRules {
  /** Time in which one token comes back, in milliseconds. */
  readonly periodMs: number;
  /** Tokens that may be saved up. */
  readonly capacity: number;
  /** Pause kept beside the period, in milliseconds, where a call that comes too late is lost. */
  readonly marginMs: number;
  /** Name of a process that would send its call also without a token, to find out about the bucket. */
  readonly trialBy?: string;
}

/** What was found out about the bucket of an endpoint; kept for the next process. */
export interface Lesson {
  /** Calls that it surely takes in a spike; 0: nothing is known. */
  readonly spike: number;
  /** It saves up nothing at all: a burst of one. */
  readonly single: boolean;
  /** The search for the size of the spike came to an end. */
  readonly searched: boolean;
  /** The end was found from a full bucket, so there is no more to find. */
  readonly settled: boolean;
}

export interface Taken {
  /** 0: a token was taken. Else: nothing was; ask again after so many milliseconds. */
  readonly waitMs: number;
  /** Tokens due before the call, also those beyond the capacity: tells how long nothing was taken. */
  readonly tokens: number;
  /** Nothing was taken, but the call may go as a trial: no other process makes trials meanwhile. */
  readonly trial?: true;
  /** What another process has found out. */
  readonly lesson?: Lesson;
}

/** What to do after a refusal, or after the very first answer. */
export interface Hold {
  readonly periodMs: number;
  /** The refused call took no token: give it back. */
  readonly refund: boolean;
  /** No token before so many milliseconds from now; below 0: one was due so long ago, no more. */
  readonly waitMs: number;
}

/**
 * Where the buckets are kept. A token is taken or not taken at the moment of asking and nothing is
 * reserved ahead, so a process that dies takes nothing with it. A bucket that is not known yet is
 * empty and fills from now on.
 *
 * Never fails: shared buckets that cannot be reached are replaced by local ones.
 */
export interface BucketState {
  take(key: string, rules: BucketRules): Taken | Promise<Taken>;
  hold(key: string, hold: Hold): void | Promise<void>;
  learn(key: string, lesson: Lesson): void | Promise<void>;
  close(): Promise<void>;
}

/** Longest time that a bucket may be held, in periods. */
export const longestHoldPeriods = 16;

/** A process that makes trials keeps others from it for so long after each, in milliseconds. */
export const trialMs = 3_000;

/**
 * A trial may be accepted because of the part of a token that is due. Then the next due call comes
 * too early by that part, so it is kept small.
 */
export const mostTrialTokens = 0.5;

/** Less than the timers can tell apart, in milliseconds. */
export const closeEnoughMs = 0.05;

/** What is kept of a bucket. */
export interface Level {
  /** Time at which it was empty. Left out: not known yet. */
  readonly emptyAt?: number;
  /** Who makes trials, and when the last one was. */
  readonly trialBy?: string;
  readonly trialAt?: number;
}

const mayTry = ({ trialBy, trialAt = 0 }: Level, by: string, now: number): boolean =>
  trialBy === undefined || trialBy === by || Math.abs(now - trialAt) > trialMs;

/** Takes a token out of a bucket, if one is there. */
export const takeFrom = (
  level: Level,
  now: number,
  { periodMs, capacity, marginMs, trialBy }: BucketRules,
): { readonly level: Level; readonly taken: Taken } => {
  // A value from the far future was written by a clock that has jumped.
  const empty = Math.min(level.emptyAt ?? now, now + longestHoldPeriods * periodMs);
  const tokens = (now - empty) / periodMs;
  const waitMs = periodMs - (now - empty);
  if (waitMs <= closeEnoughMs) {
    const emptyAt = Math.max(empty, now - capacity * periodMs) + periodMs + marginMs;
    return { level: { ...level, emptyAt }, taken: { waitMs: 0, tokens } };
  }
  if (trialBy !== undefined && tokens < mostTrialTokens && mayTry(level, trialBy, now)) {
    const tried = { emptyAt: empty, trialBy, trialAt: now };
    return { level: tried, taken: { waitMs, tokens, trial: true } };
  }
  return { level: { ...level, emptyAt: empty }, taken: { waitMs, tokens } };
};

/** The bucket after a refusal: the next token comes after `waitMs`. */
export const holdBack = (level: Level, now: number, { periodMs, refund, waitMs }: Hold): Level => {
  const before = (level.emptyAt ?? now) - (refund ? periodMs : 0);
  const longest = now + longestHoldPeriods * periodMs;
  return { ...level, emptyAt: Math.min(longest, Math.max(before, now - periodMs + waitMs)) };
};

/** The lesson as a short text for a store. */
export const lessonText = ({ spike, single, searched, settled }: Lesson): string =>
  `${spike} ${single ? 1 : 0} ${searched ? 1 : 0} ${settled ? 1 : 0}`;

/** Reads {@link lessonText}; undefined for anything else. */
export const lessonOf = (text: unknown): Lesson | undefined => {
  const found = typeof text === "string" ? /^(\d{1,9}) ([01]) ([01]) ([01])$/.exec(text) : null;
  if (!found) return undefined;
  const [, spike, single, searched, settled] = found;
  return {
    spike: Number(spike),
    single: single === "1",
    searched: searched === "1",
    settled: settled === "1",
  };
};
