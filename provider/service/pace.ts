import { durationText } from "../kernel/text.js";
import { dateOf, type Endpoint, type HttpResponse } from "./transport.js";

/**
 * Decides when to run `attempt`, repeats it as long as the response is 429, and returns the first
 * response with another status. Passes on failures of `attempt`.
 *
 * The attempt itself runs outside any queue. `signal` cancels the wait, never an attempt.
 *
 * @throws ConversationError `THROTTLED` after the allowed time, `CANCELLED` if the signal aborts
 * the wait
 */
export type Pace = (
  endpoint: Endpoint,
  attempt: () => Promise<HttpResponse>,
  signal?: AbortSignal,
) => Promise<HttpResponse>;

/** A call waits for its turn on one endpoint. */
export interface Wait extends Endpoint {
  /** Number of calls waiting on the endpoint, including any refused call. */
  readonly queued: number;
  /** How long this call has to wait, in milliseconds. */
  readonly waitMs: number;
}

/**
 * Describes a wait: `1 min 15 s left for POST /channels, 12 calls queued`. The time comes first,
 * because rows are cut off at the end.
 */
export const waitText = ({ method, template, queued, waitMs }: Wait): string => {
  const calls = `${queued} ${queued === 1 ? "call" : "calls"} queued`;
  return `${durationText(waitMs)} left for ${method} ${template}, ${calls}`;
};

/**
 * The longest accepted Retry-After, in milliseconds: 16 periods of the lowest rate. A bucket gains
 * a token within one period, so a longer wait is either a mistake or more than a run can afford.
 */
const longestRetryAfterMs = 100_000;

/**
 * The wait, in milliseconds, that a Retry-After header requests in seconds or as a date (RFC 9110
 * §10.2.3), at most 100 s. If the header is repeated, the longest wait applies. Undefined if no wait
 * is requested.
 */
export const retryAfterMs = (
  headers: HttpResponse["headers"],
  wallMs: number,
): number | undefined => {
  // The service's own clock if the headers give the time, so that ours does not matter.
  const nowMs = dateOf(headers) ?? wallMs;
  const waits = [headers["retry-after"] ?? []]
    .flat()
    .map((text) => readRetryAfter(text.trim(), nowMs))
    .filter((ms) => ms > 0);
  return waits.length > 0 ? Math.min(longestRetryAfterMs, Math.max(...waits)) : undefined;
};

/** NaN for a text that is neither seconds nor a date. */
const readRetryAfter = (text: string, nowMs: number): number => {
  // Without what binary fractions add: 32.2 s are 32,200 ms, not a part of the next one.
  if (/^\d+(\.\d+)?$/.test(text)) return Math.round(Number(text) * 1e6) / 1e3;
  if (!/\d\d:\d\d:\d\d/.test(text) || text.length > 50) return Number.NaN;
  // The old format of dates has no time zone: it is GMT.
  return Date.parse(/^[A-Z][a-z]{2} [A-Z]/.test(text) ? `${text} GMT` : text) - nowMs;
};
