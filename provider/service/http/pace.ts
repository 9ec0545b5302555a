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
}
