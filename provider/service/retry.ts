import { type Clock, systemClock } from "../kernel/clock.js";
import { ConversationError, isConversationError } from "../kernel/errors.js";
import { isIdempotent } from "./operations.js";
import type { Endpoint } from "./pace.js";

/** How often and for how long a call is repeated. */
export interface RetryLimits {
  /** Number of retries after the first attempt. Default: 4. */
  readonly retries: number;
  /**
   * First pause in milliseconds. The pause doubles with each retry, and a random time of up to the
   * same length is added. Default: 500.
   */
  readonly minTimeoutMs: number;
  /** Longest pause in milliseconds. Default: 8,000. */
  readonly maxTimeoutMs: number;
  /** Time after the first failure, in milliseconds, after which no retry starts. Default: 120,000. */
  readonly maxRetryTimeMs: number;
}

/**
 * Called before the first retry of a failed call.
 *
 * @param longestMs maximum time of the retries if they fail like the first attempt, in milliseconds
 */
export type OnRepeat = (error: unknown, longestMs: number) => void;

export const defaultRetryLimits: RetryLimits = {
  retries: 4,
  minTimeoutMs: 500,
  maxTimeoutMs: 8_000,
  maxRetryTimeMs: 120_000,
};

interface RetryOptions {
  readonly limits?: Partial<RetryLimits>;
  /** Ends the pauses, but no attempt in progress. */
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock;
  readonly onRepeat?: OnRepeat | undefined;
}

/** A call whose answer cannot be read is repeated twice at most. */
const unreadableRetries = 2;

/**
 * Whether a call may be repeated without harm. A POST or PATCH is repeated only if it is certain
 * that the failed attempt had no effect.
 *
 * @param failures how often the call has failed so far
 */
export const mayRepeat = (endpoint: Endpoint, error: unknown, failures: number): boolean => {
  if (!isConversationError(error) || error.details.permanent) return false;
  // A failed token call inside this one has already been repeated.
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

const cancelled = (signal: AbortSignal, wasSent = false): ConversationError => {
  const why = isConversationError(signal.reason) ? signal.reason.message : "The call was canceled.";
  return new ConversationError("CANCELLED", `${why} Nothing was ${wasSent ? "changed" : "sent"}.`);
};

/**
 * The result for the caller when the signal ended the repeats: an answer that arrived anyway is
 * never discarded, and neither is a failure that may have had an effect.
 */
const afterAbort = <T>(last: Outcome<T> | undefined, signal: AbortSignal): T => {
  if (last === undefined) throw cancelled(signal);
  if ("value" in last) return last.value;
  if (isConversationError(last.error) && last.error.effect !== "none") throw last.error;
  if (isConversationError(last.error, "CANCELLED")) throw last.error;
  throw cancelled(signal, true);
};

/**
 * Runs `attempt` and repeats it as long as `may` and the limits allow.
 *
 * @throws the last failure; ConversationError `CANCELLED` if the signal aborts first
 */
export const withRetry = async <T>(
  attempt: () => Promise<T>,
  may: (error: unknown, failures: number) => boolean,
  { limits, signal, clock = systemClock, onRepeat }: RetryOptions = {},
): Promise<T> => {
  if (signal?.aborted) throw cancelled(signal);
  const all = { ...defaultRetryLimits, ...limits };
  // The first attempt may wait long for its turn, so the allowed time starts at its failure.
  let first: { readonly began: number; readonly failedAt: number } | undefined;
  let last: Outcome<T> | undefined;
  const once = async (): Promise<T> => {
    const began = clock.now();
    try {
      const value = await attempt();
      last = { value };
      return value;
    } catch (error) {
      first ??= { began, failedAt: clock.now() };
      last = { error };
      throw error;
    }
  };
  const start = once();
  try {
    return await start;
  } catch {
    // Only a call that failed needs what repeats it.
  }
  try {
    const { default: pRetry } = await import("p-retry");
    return await pRetry((attemptNumber) => (attemptNumber === 1 ? start : once()), {
      retries: all.retries,
      minTimeout: all.minTimeoutMs,
      maxTimeout: all.maxTimeoutMs,
      randomize: true,
      signal,
      shouldRetry: ({ error, attemptNumber }) => {
        if (!first || clock.now() - first.failedAt >= all.maxRetryTimeMs) return false;
        if (!may(error, attemptNumber)) return false;
        if (attemptNumber === 1)
          onRepeat?.(error, longestRepeats(all, first.failedAt - first.began));
        return true;
      },
    });
  } catch (error) {
    if (signal?.aborted) return afterAbort(last, signal);
    throw last && "error" in last ? last.error : error;
  }
};

/** @param attemptMs duration of one attempt */
const longestRepeats = (limits: RetryLimits, attemptMs: number): number => {
  const { retries, minTimeoutMs, maxTimeoutMs, maxRetryTimeMs } = limits;
  const pauses = Array.from({ length: retries }, (_, repeat) =>
    Math.min(maxTimeoutMs, 2 * minTimeoutMs * 2 ** repeat),
  );
  const all = pauses.reduce((sum, ms) => sum + ms, retries * attemptMs);
  return Math.min(all, maxRetryTimeMs + attemptMs);
};

/** The message of a failure after an attempt that might have had an effect. */
const afterPossibleEffect = (message: string): string =>
  message.replace(/ Nothing was (?:changed|sent)\./, " An earlier attempt may have taken effect.");

/**
 * Wraps an attempt that can be retried, so that if an earlier attempt might have had an effect, no
 * later failure claims that nothing was done.
 */
export const keepUnknownEffect = <T>(attempt: () => Promise<T>): (() => Promise<T>) => {
  let mayHaveActed = false;
  return async () => {
    try {
      return await attempt();
    } catch (error) {
      if (!isConversationError(error)) throw error;
      const { code, message, details, effect, cause } = error;
      if (effect === "none" && mayHaveActed)
        throw new ConversationError(code, afterPossibleEffect(message), details, "unknown", {
          cause,
        });
      mayHaveActed ||= effect !== "none";
      throw error;
    }
  };
};
