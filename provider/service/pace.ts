import type { Clock } from "./clock.js";
import { Lane, type LaneWait } from "./lane.js";
import { type Endpoint, endpointName } from "./operations.js";
import type { HttpResponse } from "./transport.js";

/**
 * The seam where pacing sits: decides when `attempt` may be made, and makes it again for as long as
 * the answer is 429. Gives back the first other answer; failures of `attempt` pass through.
 *
 * The attempt itself runs outside of any queue. `signal` ends the waiting, never an attempt.
 *
 * @throws ConversationError `THROTTLED` when the time allowed is over, `CANCELLED` on the signal
 */
export type Pace = (
  endpoint: Endpoint,
  attempt: () => Promise<HttpResponse>,
  signal?: AbortSignal,
) => Promise<HttpResponse>;

/** A wait that has just begun on one endpoint. */
export interface Wait extends Endpoint {
  /** Calls that wait there, the refused one included. */
  readonly queued: number;
  readonly waitMs: number;
}

export interface PaceOptions {
  readonly clock: Clock;
  /** Longest time for one call to get through, in milliseconds. Default: one hour. */
  readonly totalMs?: number;
  readonly onWait?: (wait: Wait) => void;
}

const totalMs = 60 * 60_000;

/**
 * Sends at once and, after a 429, holds back that one endpoint: its callers queue in order of
 * arrival while other endpoints go on. The wait is what Retry-After asks for, else 1, 2, 4, 8, 16 s
 * (specification §8.1 rule 6).
 */
export const waitOutRefusals = (options: PaceOptions): Pace => {
  const lanes = new Map<string, Lane>();
  const announce = (endpoint: Endpoint) => (wait: LaneWait) =>
    options.onWait?.({ method: endpoint.method, template: endpoint.template, ...wait });
  const laneOf = (endpoint: Endpoint): Lane => {
    const name = endpointName(endpoint);
    const lane = lanes.get(name) ?? new Lane(endpoint, options.clock, announce(endpoint));
    lanes.set(name, lane);
    return lane;
  };
  return (endpoint, attempt, signal) =>
    laneOf(endpoint).run(attempt, options.totalMs ?? totalMs, signal);
};
