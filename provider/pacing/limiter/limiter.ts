import type { Limit } from "./bucket.js";
import { counting, type LimiterEvent, type LimiterState, type Step } from "./limiter-state.js";
import { accepted, refused } from "./outcome.js";
import { asked } from "./turn.js";

/**
 * The limiter of one endpoint as a pure function: what is decided at a time, and what is known after.
 *
 * A token that has come back at the rate of the limit is certain. Whether more were saved up before is
 * found by probes until one is refused: mostly the only refusal of an endpoint that nobody else uses.
 */
export const step = (state: LimiterState, event: LimiterEvent, now: number, limit: Limit): Step => {
  switch (event.type) {
    case "ask":
      return asked(state, event.slept, now, limit);
    case "accepted":
      return { state: accepted(state, event.admission, now, limit), decision: undefined };
    case "ended": {
      const own = counting(state.own, event.admission.kind, -1);
      return { state: { own, bucket: state.bucket }, decision: undefined };
    }
    case "refused":
      return refused(state, event.admission, event.askedMs, now, limit);
  }
};
