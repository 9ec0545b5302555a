import type { World } from "../objects/world.js";
import type { Endpoint } from "./endpoints.js";
import type { Answer } from "./refusal.js";

/** The body of a refusal for the rate, word for word (specification §7). */
export const tooManyRequests = { code: "429-001", developerMessage: "Too many requests." } as const;

const retryAfter = (world: World, waitMs: number): Readonly<Record<string, string>> => {
  const wholeSeconds = (ms: number): number => Math.ceil(ms / 1000);
  switch (world.switches.retryAfter) {
    case "seconds":
      return { "retry-after": String(wholeSeconds(waitMs)) };
    case "date": {
      // The form has no milliseconds; a date rounded down would come before the token.
      const until = wholeSeconds(world.clock.now() + waitMs) * 1000;
      return { "retry-after": new Date(until).toUTCString() };
    }
    default:
      return {};
  }
};

/** The answer to a call beyond the rate; undefined where the rate allows it, which costs a token. */
export const throttle = (world: World, endpoint: Endpoint): Answer | undefined => {
  const waitMs = world.buckets.take(endpoint.name, world.switches.refusedCosts);
  if (waitMs === 0) return undefined;
  return { status: 429, body: tooManyRequests, headers: retryAfter(world, waitMs) };
};
