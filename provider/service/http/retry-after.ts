import type { HttpResponse } from "./transport.js";

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

/** By the service's own clock where it tells the time, so that ours does not matter. */
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
