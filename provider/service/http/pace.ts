import type { Endpoint } from "./operations.js";
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
  /** Those of them that go before this call. */
  readonly ahead: number;
  readonly waitMs: number;
  /** Time between two calls there, in milliseconds. */
  readonly periodMs: number;
  /** How it stands with the first of them, where the service has refused it already. */
  readonly refused?: Refused;
}

/** A call that is refused for its rate and tries again. */
export interface Refused {
  /** Time since its first refusal, in milliseconds. */
  readonly forMs: number;
  /** Time left before it fails, in milliseconds. */
  readonly leftMs: number;
  /** The wait that the service asks for, such as `999999999 s`, where it is longer than is believed. */
  readonly asks?: string;
}
