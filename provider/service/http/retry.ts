import { type Clock, systemClock } from "../../kernel/clock.js";
import { ConversationError, isConversationError } from "../../kernel/errors.js";
import { type Endpoint, isIdempotent } from "./operations.js";
import type { HttpResponse } from "./transport.js";

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
 * Called once, when a call that failed is to be sent again.
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
const afterAbort = <T>(last: Outcome<T> | undefined): T => {
  if (last === undefined) throw cancelled();
  if ("value" in last) return last.value;
  if (isConversationError(last.error) && last.error.effect !== "none") throw last.error;
  if (isConversationError(last.error, "CANCELLED")) throw last.error;
  throw cancelled();
};

/**
 * Runs `attempt` and repeats it while `may` allows.
 *
 * @throws the last failure; ConversationError `CANCELLED` if the signal came first
 */
export const withRetry = async <T>(
  attempt: () => Promise<T>,
  may: (error: unknown, failures: number) => boolean,
  { limits, signal, clock = systemClock, onRepeat }: RetryOptions = {},
): Promise<T> => {
  if (signal?.aborted) throw cancelled();
  const all = { ...defaultRetryLimits, ...limits };
  const began = clock.now();
  // The first attempt may wait long for its turn, so the time allowed is counted from its failure.
  let failedAt: number | undefined;
  let last: Outcome<T> | undefined;
  const once = async (): Promise<T> => {
    try {
      const value = await attempt();
      last = { value };
      return value;
    } catch (error) {
      failedAt ??= clock.now();
      last = { error };
      throw error;
    }
  };
  try {
    const { default: pRetry } = await import("p-retry");
    return await pRetry(once, {
      retries: all.retries,
      minTimeout: all.minTimeoutMs,
      maxTimeout: all.maxTimeoutMs,
      randomize: true,
      signal,
      shouldRetry: ({ error, attemptNumber }) => {
        const since = failedAt ?? began;
        if (clock.now() - since >= all.maxRetryTimeMs || !may(error, attemptNumber)) return false;
        if (attemptNumber === 1) onRepeat?.(error, longestRepeats(all, since - began));
        return true;
      },
    });
  } catch (error) {
    if (signal?.aborted) return afterAbort(last);
    throw last && "error" in last ? last.error : error;
  }
};

/** @param attemptMs what one attempt takes */
const longestRepeats = (limits: RetryLimits, attemptMs: number): number => {
  const { retries, minTimeoutMs, maxTimeoutMs, maxRetryTimeMs } = limits;
  const pauses = Array.from({ length: retries }, (_, repeat) =>
    Math.min(maxTimeoutMs, 2 * minTimeoutMs * 2 ** repeat),
  );
  const all = pauses.reduce((sum, ms) => sum + ms, retries * attemptMs);
  return Math.min(all, maxRetryTimeMs + attemptMs);
};

type Headers = HttpResponse["headers"];

/**
 * Longest wait that a service is believed, in milliseconds: 16 periods of the lowest rate. A bucket
 * gives a token back within one, so what asks for more is a mistake, or nothing that a run can wait for.
 */
export const longestRetryAfterMs = 100_000;

/** The forms in which the header may be written (RFC 9110 §10.2.3 and §5.6.7), and two that occur besides. */
const forms = {
  seconds: /^\d+(\.\d+)?$/,
  /** With the name of a day in front, or as ISO 8601. */
  date: /^([A-Z][a-z]{2,8},? [\w -]{3,20}|\d{4}-\d\d-\d\dT)\d\d:\d\d:\d\d[\w +.:-]{0,20}$/,
} as const;

/** How a value of the header is written; undefined where it says nothing that can be kept to. */
export const retryAfterForm = (value: string): "seconds" | "date" | undefined => {
  const text = value.trim();
  if (forms.seconds.test(text)) return "seconds";
  return forms.date.test(text) && !Number.isNaN(Date.parse(text)) ? "date" : undefined;
};

/** The old form of a date has no zone: it is GMT. */
const oldDate = /^[A-Z][a-z]{2} [A-Z]/;

const dateOf = (text: string): number => Date.parse(oldDate.test(text) ? `${text} GMT` : text);

const valuesOf = (headers: Headers, name: string): readonly string[] =>
  [headers[name] ?? []].flat().map((value) => value.trim());

/** By the service's own clock if it gives the time, so that ours does not matter. */
const nowOf = (headers: Headers, wallMs: number): number => {
  const sentAt = Date.parse(valuesOf(headers, "date")[0] ?? "");
  return Number.isNaN(sentAt) ? wallMs : sentAt;
};

const mostDigits = 12;

const shown = (seconds: string): string =>
  seconds.length > mostDigits
    ? `${seconds.slice(0, mostDigits)}… s (${seconds.length} digits)`
    : `${seconds} s`;

/** The longest wait that the header asks for; undefined where it asks for none. */
const askedFor = (headers: Headers, wallMs: number) => {
  const asked = valuesOf(headers, "retry-after").flatMap((text) => {
    const form = retryAfterForm(text);
    if (form === "seconds") return [{ ms: Number(text) * 1000, text: shown(text) }];
    return form === "date" ? [{ ms: dateOf(text) - nowOf(headers, wallMs), text }] : [];
  });
  const longest = asked.toSorted((a, b) => b.ms - a.ms)[0];
  return longest && longest.ms > 0 ? longest : undefined;
};

/**
 * The wait that a Retry-After header asks for, in milliseconds: seconds or a date, the longest where it
 * is repeated, cut at {@link longestRetryAfterMs}. Undefined where there is no usable header.
 */
export const retryAfterMs = (headers: Headers, wallMs: number): number | undefined => {
  const asked = askedFor(headers, wallMs);
  return asked && Math.min(asked.ms, longestRetryAfterMs);
};

/** What the header asks for, as a message shows it: `30 s`, or a date. Undefined where it asks for no wait. */
export const retryAfterText = (headers: Headers, wallMs: number): string | undefined =>
  askedFor(headers, wallMs)?.text;

/** The same where it is longer than is believed. */
export const unbelievedRetryAfter = (headers: Headers, wallMs: number): string | undefined => {
  const asked = askedFor(headers, wallMs);
  return asked && asked.ms > longestRetryAfterMs ? asked.text : undefined;
};
