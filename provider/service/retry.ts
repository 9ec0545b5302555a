import { ConversationError, isConversationError } from "../kernel/errors.js";
import { isIdempotent } from "./operations.js";
import type { Endpoint } from "./transport.js";

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

export const defaultRetryLimits: RetryLimits = {
  retries: 4,
  minTimeoutMs: 500,
  maxTimeoutMs: 8_000,
  maxRetryTimeMs: 120_000,
};

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

interface Repeats {
  readonly endpoint: Endpoint;
  readonly limits?: Partial<RetryLimits> | undefined;
  /** Ends the pauses, but no attempt in progress. */
  readonly signal: AbortSignal;
  /** Called before the first repeat. */
  readonly onRepeat?: (failure: unknown) => void;
}

/**
 * Repeats a call that has failed once, as long as that does no harm and the limits allow it.
 *
 * @throws the last failure, which never claims that nothing was done if an earlier attempt may have
 * had an effect; ConversationError `CANCELLED` if the signal aborts first
 */
export const repeatIfHarmless = async <T>(
  failure: unknown,
  attempt: () => Promise<T>,
  { endpoint, limits, signal, onRepeat }: Repeats,
): Promise<T> => {
  const { default: pRetry } = await import("p-retry");
  const { retries, ...times } = { ...defaultRetryLimits, ...limits };
  let last = failure;
  let answer: { readonly value: T } | undefined;
  const repeat = async (number: number): Promise<T> => {
    if (number === 1) throw failure;
    try {
      answer = { value: await attempt() };
      return answer.value;
    } catch (error) {
      last = keepUnknownEffect(error, last);
      throw last;
    }
  };
  try {
    return await pRetry(repeat, {
      retries,
      minTimeout: times.minTimeoutMs,
      maxTimeout: times.maxTimeoutMs,
      // The first attempt may have waited long for its turn: the time starts at its failure.
      maxRetryTime: times.maxRetryTimeMs,
      randomize: true,
      signal,
      shouldRetry: ({ attemptNumber }) => {
        const isAllowed = mayRepeat(endpoint, last, attemptNumber);
        if (isAllowed && attemptNumber === 1) onRepeat?.(failure);
        return isAllowed;
      },
    });
  } catch {
    // An answer that arrived in spite of the signal is never lost, and neither is an effect.
    if (answer) return answer.value;
    throw signal.aborted && isConversationError(last) ? afterAbort(last, signal) : last;
  }
};

/** A failure after an attempt that may have had an effect does not say that nothing was done. */
const keepUnknownEffect = (error: unknown, before: unknown): unknown => {
  const mayHaveActed = isConversationError(before) && before.effect !== "none";
  if (!mayHaveActed || !isConversationError(error) || error.effect !== "none") return error;
  const { code, message, details, cause } = error;
  const text = message.replace(
    / Nothing was (?:changed|sent)\./,
    " An earlier attempt may have taken effect.",
  );
  return new ConversationError(code, text, details, "unknown", { cause });
};

const afterAbort = (last: ConversationError, signal: AbortSignal): ConversationError =>
  last.effect !== "none" || last.code === "CANCELLED" ? last : cancelledBy(signal, "changed");

/** The error for a call that its caller, or the end of the connection, has canceled. */
export const cancelledBy = (
  { reason }: AbortSignal,
  nothingWas: "sent" | "changed",
): ConversationError => {
  const why = isConversationError(reason) ? reason.message : "The call was canceled.";
  return new ConversationError("CANCELLED", `${why} Nothing was ${nothingWas}.`);
};
