import type { Clock } from "../../kernel/clock.js";
import { type Endpoint, endpointName } from "../../service/http/operations.js";
import type { Pace, Wait } from "../../service/http/pace.js";
import { unlimitedUntilRefused } from "../endpoint-limiter.js";
import { EndpointQueue } from "../endpoint-queue.js";

export interface AfterRefusalsOptions {
  readonly clock: Clock;
  /** Longest time for one call to get through after its first refusal, in milliseconds. Default: one hour. */
  readonly totalMs?: number;
  /** Shorter waits are not announced, in milliseconds. Default: 0, every wait is. */
  readonly announcedMs?: number;
  /** A call has to wait; told again every 10 seconds with the time left. */
  readonly onWait?: (wait: Wait) => void;
}

/** Default time for a call to get through, in milliseconds. */
const hourMs = 60 * 60_000;

/** One queue for each endpoint, made when it is first called. */
export const perEndpoint = (make: (endpoint: Endpoint) => EndpointQueue): Pace => {
  const known = new Map<string, EndpointQueue>();
  return (endpoint, attempt, signal) => {
    const name = endpointName(endpoint);
    let queue = known.get(name);
    if (!queue) {
      const { method, template } = endpoint;
      queue = make({ method, template });
      known.set(name, queue);
    }
    return queue.run(attempt, signal);
  };
};

/**
 * For rates that are not known: sends at once and, after a 429, holds back that one endpoint while
 * others go on. The wait is what Retry-After asks for, else 1, 2, 4, 8, 16 s (specification §8.1 rule 6).
 */
export const waitOutRefusals = (options: AfterRefusalsOptions): Pace => {
  const { clock, totalMs = hourMs, announcedMs = 0, onWait } = options;
  return perEndpoint((endpoint) => {
    const limiter = unlimitedUntilRefused(clock);
    const announce = (news: Pick<Wait, "queued" | "waitMs">) => onWait?.({ ...endpoint, ...news });
    return new EndpointQueue({ endpoint, clock, limiter, totalMs, announcedMs, onWait: announce });
  });
};
