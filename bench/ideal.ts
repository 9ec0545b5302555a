import type { Situation } from "./figures.js";

/**
 * The shortest time that a token bucket allows for `calls` calls of one endpoint, in seconds, from a
 * full bucket and without the time that the calls themselves take (specification §8.1).
 */
export const idealSeconds = (calls: number, rate: number, burst: number): number =>
  Math.max(0, calls - burst) / rate;

/** The ideal in a situation; what others take all the time is not known, so it is left out. */
export const idealIn = (situation: Situation, calls: number, rate: number, burst: number): number =>
  idealSeconds(calls, rate, situation === "empty" ? 0 : burst);

/**
 * Wall time over the ideal, such as 1.004; null where the ideal is no time at all, and where some of
 * the work was not done: giving up early is not being fast.
 */
export const overIdeal = (wallSeconds: number, ideal: number, failed: number): number | null =>
  ideal > 0 && failed === 0 ? wallSeconds / ideal : null;
