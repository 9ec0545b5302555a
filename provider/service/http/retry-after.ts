import type { HttpResponse } from "./transport.js";

/** Longest wait that a service is believed, in milliseconds: 16 periods of the lowest rate. */
export const longestRetryAfterMs = 100_000;

const textOf = (value: string | string[] | undefined): string =>
  (Array.isArray(value) ? value[0] : value)?.trim() ?? "";

/** A date counts from the service's own clock where it tells the time, so that ours does not matter. */
const untilDate = (text: string, sentAt: string, wallMs: number): number => {
  const from = Date.parse(sentAt);
  return Date.parse(text) - (Number.isNaN(from) ? wallMs : from);
};

/**
 * The wait that a refused call's Retry-After header asks for, in milliseconds: seconds or a date,
 * cut at {@link longestRetryAfterMs}. Undefined where there is no usable header.
 */
export const retryAfterMs = (
  headers: HttpResponse["headers"],
  wallMs: number,
): number | undefined => {
  const text = textOf(headers["retry-after"]);
  if (text === "") return undefined;
  const wait = /^\d+(\.\d+)?$/.test(text)
    ? Number(text) * 1000
    : untilDate(text, textOf(headers.date), wallMs);
  return wait > 0 ? Math.min(wait, longestRetryAfterMs) : undefined;
};
