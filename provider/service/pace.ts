import type { Clock } from "../kernel/clock.js";
import { abbreviated, durationText } from "../kernel/text.js";
import type { HttpResponse, Method } from "./transport.js";

/** The identity of a rate bucket: method and path template (specification §8.1 rule 1). */
export interface Endpoint {
  readonly method: Method;
  /** Path relative to the base URL, such as `/channels/{id}`. */
  readonly template: string;
}

/** The name of an endpoint in messages and statistics, such as `GET /channels/{id}`. */
export const endpointName = ({ method, template }: Endpoint): string => `${method} ${template}`;

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

/** A wait that has just started on one endpoint. */
export interface Wait extends Endpoint {
  /** Number of calls waiting on the endpoint, including any refused call. */
  readonly queued: number;
  /** Number of waiting calls ahead of this call. */
  readonly ahead: number;
  /** How long this call has to wait, in milliseconds. */
  readonly waitMs: number;
  /** Time between two calls on the endpoint, in milliseconds. */
  readonly periodMs: number;
  /** The state of the first waiting call, if the service has already refused it. */
  readonly refused?: Refused;
}

/** A call that the service refused because of the rate limit and that is being repeated. */
export interface Refused {
  /** Time since the call's first refusal, in milliseconds. */
  readonly forMs: number;
  /** Time left before the call fails, in milliseconds. */
  readonly leftMs: number;
  /** The wait that the service requests, such as `999999999 s`, if it exceeds the accepted maximum. */
  readonly asks?: string;
}

/**
 * Describes a wait: `1 min 15 s left for POST /channels, 12 calls queued`. The time comes first,
 * because rows are cut off at the end.
 */
export const waitText = ({ method, template, queued, waitMs, refused }: Wait): string => {
  const calls = `${queued} ${queued === 1 ? "call" : "calls"} queued`;
  const asked =
    refused?.asks === undefined
      ? ""
      : `; the service requests a longer wait (Retry-After: ${refused.asks})`;
  return `${durationText(waitMs)} left for ${method} ${template}, ${calls}${asked}`;
};

/**
 * Describes a refusal: `The service refuses GET /channels because of the rate limit (429). Retrying
 * for up to 59 min 48 s.`
 */
export const refusedText = ({ method, template }: Wait, { leftMs, asks }: Refused): string => {
  const why =
    asks === undefined
      ? ""
      : `, and requests a longer wait than the client accepts (Retry-After: ${asks})`;
  return `The service refuses ${method} ${template} because of the rate limit (429)${why}. Retrying for up to ${durationText(leftMs)}.`;
};

type Headers = HttpResponse["headers"];

type Dated = Pick<HttpResponse, "headers">;

/**
 * The longest accepted Retry-After, in milliseconds: 16 periods of the lowest rate. A bucket gains
 * a token within one period, so a longer wait is either a mistake or more than a run can afford.
 */
export const longestRetryAfterMs = 100_000;

const valuesOf = (headers: Headers, name: string): readonly string[] =>
  [headers[name] ?? []].flat().map((value) => value.trim());

/** The wait that one header value requests: seconds, or a date (RFC 9110 §10.2.3). NaN if neither. */
const readRetryAfter = (text: string, nowMs: number): number => {
  // Without what binary fractions add: 32.2 s are 32,200 ms, not a part of the next one.
  if (/^\d+(\.\d+)?$/.test(text)) return Math.round(Number(text) * 1e6) / 1e3;
  if (!/\d\d:\d\d:\d\d/.test(text) || text.length > 50) return Number.NaN;
  // The old format of dates has no time zone: it is GMT.
  return Date.parse(/^[A-Z][a-z]{2} [A-Z]/.test(text) ? `${text} GMT` : text) - nowMs;
};

const mostShown = 40;

/** The longest wait that the header requests; undefined if it requests none. */
const askedFor = (headers: Headers, wallMs: number) => {
  // The service's own clock if the headers give the time, so that ours does not matter.
  const sentAt = Date.parse(valuesOf(headers, "date")[0] ?? "");
  const nowMs = Number.isNaN(sentAt) ? wallMs : sentAt;
  const [longest] = valuesOf(headers, "retry-after")
    .map((text) => ({ text, ms: readRetryAfter(text, nowMs) }))
    .filter(({ ms }) => ms > 0)
    .toSorted((a, b) => b.ms - a.ms);
  if (!longest) return undefined;
  const { ms, text } = longest;
  return { ms, text: abbreviated(/^[\d.]+$/.test(text) ? `${text} s` : text, mostShown) };
};

/**
 * The wait, in milliseconds, that a Retry-After header requests in seconds or as a date. If the
 * header is repeated, the longest wait applies; the maximum is {@link longestRetryAfterMs}.
 * Undefined if no wait is requested.
 */
export const retryAfterMs = (headers: Headers, wallMs: number): number | undefined => {
  const asked = askedFor(headers, wallMs);
  return asked && Math.min(asked.ms, longestRetryAfterMs);
};

/**
 * The requested wait as text for a message: `30 s`, or a date. Undefined if the header requests no
 * wait.
 */
export const retryAfterText = (headers: Headers, wallMs: number): string | undefined =>
  askedFor(headers, wallMs)?.text;

/**
 * The requested wait as text for a message if it exceeds the accepted maximum; otherwise undefined.
 */
export const unbelievedRetryAfter = (headers: Headers, wallMs: number): string | undefined => {
  const asked = askedFor(headers, wallMs);
  return asked && asked.ms > longestRetryAfterMs ? asked.text : undefined;
};

const httpDate = /^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** A clock that shows an earlier time was never set. */
const earliest = Date.UTC(2000, 0, 1);

/** How long an answer was in a cache (`Age`, RFC 9111 §5.1), in milliseconds. */
const ageOf = (age: unknown): number =>
  typeof age === "string" && /^\d{1,10}$/.test(age) ? Number(age) * 1000 : 0;

/**
 * The service's time when a response arrived, from its Date (RFC 9110 §6.6.1) and Age headers, in
 * milliseconds since 1970. Undefined if the Date is missing or not credible.
 */
export const dateOf = ({ headers: { date, age } }: Dated): number | undefined => {
  if (typeof date !== "string") return undefined;
  if (date !== lastDate.text) lastDate = { text: date, ms: instantIn(date) };
  return lastDate.ms >= earliest ? lastDate.ms + ageOf(age) : undefined;
};

const instantIn = (date: string): number => (httpDate.test(date) ? Date.parse(date) : Number.NaN);

/** Many answers arrive within a second. */
let lastDate = { text: "", ms: Number.NaN };

/** Tracks the service's own time. */
export interface ServiceTime {
  /** Updates the service's time from the Date header in a response. */
  learn(response: Dated): void;
  /**
   * The service's time in milliseconds since 1970, or this machine's time until a response contains
   * the service's. Undefined if this machine's clock was never set.
   */
  now(): number | undefined;
}

/**
 * This machine's wall clock, corrected by the last response that contained the time. Accurate to
 * about a second.
 */
export const serviceTime = (clock: Clock): ServiceTime => {
  let ahead: number | undefined;
  return {
    learn: (response) => {
      const date = dateOf(response);
      if (date !== undefined) ahead = date - clock.wall();
    },
    now: () => {
      if (ahead !== undefined) return clock.wall() + ahead;
      return clock.wall() < earliest ? undefined : clock.wall();
    },
  };
};
