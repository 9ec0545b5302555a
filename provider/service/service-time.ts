import type { Clock } from "./clock.js";
import type { HttpResponse } from "./transport.js";

const httpDate = /^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
/** A clock that is before this was never set. */
const earliest = Date.UTC(2000, 0, 1);

/** When an answer was made, by its Date header (RFC 9110 §6.6.1): milliseconds since 1970. Undefined where the header cannot be believed. */
export const dateOf = ({ headers }: HttpResponse): number | undefined => {
  const { date } = headers;
  if (typeof date !== "string" || !httpDate.test(date)) return undefined;
  const ms = Date.parse(date);
  return ms >= earliest ? ms : undefined;
};

/** The service's own time. */
export interface ServiceTime {
  /** Learns from the Date header of an answer. */
  learn(response: HttpResponse): void;
  /** Milliseconds since 1970: this machine's time as long as no answer told another. */
  now(): number;
}

/** This machine's wall clock, set right by the last answer that told the time; good to about a second. */
export const serviceTime = (clock: Clock): ServiceTime => {
  let ahead = 0;
  return {
    learn: (response) => {
      const date = dateOf(response);
      if (date !== undefined) ahead = date - clock.wall();
    },
    now: () => clock.wall() + ahead,
  };
};
