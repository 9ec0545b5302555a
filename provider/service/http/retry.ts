import { type Clock, systemClock } from "../../kernel/clock.js";
import { ConversationError, isConversationError } from "../../kernel/errors.js";
import { type Endpoint, isIdempotent } from "./operations.js";

/** How often and how long a call is repeated. */
export interface RetryLimits {
  /** Repeats after the first attempt. Default: 4. */
  readonly retries: number;
  /** First pause in milliseconds; it doubles, and up to as much again is added at random. Default: 500. */
  readonly minTimeoutMs: number;
  /** Longest pause in milliseconds. Default: 8 000. */
  readonly maxTimeoutMs: number;
  /** No repeat later than this after the first failure, in milliseconds. Default: 120 000. */
  readonly maxRetryTimeMs: number;
}

export const defaultRetryLimits: RetryLimits = {
  retries: 4,
  minTimeoutMs: 500,
  maxTimeoutMs: 8_000,
  maxRetryTimeMs: 120_000,
};

export interface RetryOptions {
  readonly limits?: Partial<RetryLimits>;
  /** Ends the pauses, never an attempt that is under way. */
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock;
  readonly onRepeat?: OnRepeat | undefined;
}

/**
 * Told once, when a call that failed is to be sent again.
 *
 * @param longestMs what the repeats may take if they fail as the first attempt did, in milliseconds
 */
export type OnRepeat = (error: unknown, longestMs: number) => void;

/** What was answered with something that cannot be read is sent again twice at most. */
const unreadableRetries = 2;

/**
 * Whether a call may be sent again: only where a repeat cannot do harm. A POST or PATCH is repeated
 * only if the failed attempt surely had no effect.
 *
 * @param failures how often the call has failed so far
 */
export const mayRepeat = (endpoint: Endpoint, error: unknown, failures: number): boolean => {
  if (!isConversationError(error) || error.details.permanent) return false;
  // A failed token call inside this one has had its own repeats.
  if (error.details.template !== endpoint.template) return false;
  switch (error.code) {
    case "BAD_RESPONSE":
      return isIdempotent(endpoint) && failures <= unreadableRetries;
    case "UNREACHABLE":
    case "TIMED_OUT":
    case "UNAVAILABLE":
      return isIdempotent(endpoint) || error.effect === "none";
    default:
      return false;
  }
};

type Outcome<T> = { readonly value: T } | { readonly error: unknown };

const cancelled = (): ConversationError =>
  new ConversationError("CANCELLED", "The call was given up before it was sent. Nothing was sent.");

/**
 * What the caller gets when the signal ended the repeats: an answer that came all the same is never
 * thrown away, and neither is a failure that may have had an effect.
 */
const afterAbort = <T>(last: Outcome<T>): T => {
  if ("value" in last) return last.value;
  if (isConversationError(last.error) && last.error.effect !== "none") throw last.error;
  if (isConversationError(last.error, "CANCELLED")) throw last.error;
  throw cancelled();
};

/**
 * Runs `attempt` and repeats it while `may` allows.
 *
 * @throws the last failure; ConversationError `CANCELLED` where the signal came first
 */
export const withRetry = async <T>(
  attempt: () => Promise<T>,
  may: (error: unknown, failures: number) => boolean,
  options: RetryOptions = {},
): Promise<T> => {
  if (options.signal?.aborted) throw cancelled();
  const clock = options.clock ?? systemClock;
  const began = clock.now();
  try {
    return await attempt();
  } catch (error) {
    const isGivenUp = options.signal?.aborted === true;
    if (!may(error, 1) && !isGivenUp) throw error;
    if (!isGivenUp) options.onRepeat?.(error, longestRepeats(options.limits, clock.now() - began));
    return repeated(attempt, may, options, error);
  }
};

/** @param attemptMs what one attempt takes */
const longestRepeats = (limits: Partial<RetryLimits> = {}, attemptMs: number): number => {
  const given = { ...defaultRetryLimits, ...limits };
  const { retries, minTimeoutMs, maxTimeoutMs, maxRetryTimeMs } = given;
  const pauses = Array.from({ length: retries }, (_, repeat) =>
    Math.min(maxTimeoutMs, 2 * minTimeoutMs * 2 ** repeat),
  );
  const all = pauses.reduce((sum, ms) => sum + ms, retries * attemptMs);
  return Math.min(all, maxRetryTimeMs + attemptMs);
};

/** The repeats after a first failure; only here is the retry library needed, so only here it is loaded. */
const repeated = async <T>(
  attempt: () => Promise<T>,
  may: (error: unknown, failures: number) => boolean,
  options: RetryOptions,
  firstError: unknown,
): Promise<T> => {
  const limits = { ...defaultRetryLimits, ...options.limits };
  const clock = options.clock ?? systemClock;
  // Counted from the first failure: the first attempt may have waited long for its turn.
  const failedAt = clock.now();
  let last: Outcome<T> = { error: firstError };
  const once = async (number: number): Promise<T> => {
    if (number === 1) throw firstError;
    try {
      const value = await attempt();
      last = { value };
      return value;
    } catch (error) {
      last = { error };
      throw error;
    }
  };
  try {
    const { default: pRetry } = await import("p-retry");
    return await pRetry(once, {
      retries: limits.retries,
      minTimeout: limits.minTimeoutMs,
      maxTimeout: limits.maxTimeoutMs,
      randomize: true,
      signal: options.signal,
      shouldRetry: ({ error, attemptNumber }) =>
        clock.now() - failedAt < limits.maxRetryTimeMs && may(error, attemptNumber),
    });
  } catch (error) {
    if (options.signal?.aborted) return afterAbort(last);
    throw error;
  }
};
