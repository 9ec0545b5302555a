import type { Clock } from "../../kernel/clock.js";
import type { HttpResponse } from "../http/transport.js";

const httpDate = /^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
/** A clock that is before this was never set. */
const earliest = Date.UTC(2000, 0, 1);

/** How long an answer lay in a cache on the way (`Age`, RFC 9111 §5.1), in milliseconds. */
const ageOf = (age: unknown): number =>
  typeof age === "string" && /^\d{1,10}$/.test(age) ? Number(age) * 1000 : 0;

/**
 * What time it was at the service when an answer came, by its headers Date (RFC 9110 §6.6.1) and Age:
 * milliseconds since 1970. Undefined where the Date cannot be believed.
 */
export const dateOf = ({ headers: { date, age } }: HttpResponse): number | undefined => {
  if (typeof date !== "string" || !httpDate.test(date)) return undefined;
  const ms = Date.parse(date);
  return ms >= earliest ? ms + ageOf(age) : undefined;
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
