import type { Session } from "../lifecycle/run.js";
import type { Clock } from "../service/clock.js";
import type { Service } from "../service/connect.js";

/** What a test talks to the service with. */
export interface SmokeTestSession extends Session {
  readonly service: Service;
  readonly clock: Clock;
  /** Ends the waiting when the run is cancelled. */
  readonly signal: AbortSignal;
  /** Shows in the row of the resource what is waited for. */
  readonly say: (text: string) => void;
}
