import type { Clock } from "../kernel/clock.js";
import { type Wait, waitText } from "../service/pace.js";
import type { StatusLine } from "./status-line.js";

/** What the rows of resources show about the waits of their calls. */
export interface WaitRows {
  /** Shows which endpoint's rate a call waits for, and how long at most. */
  waits(wait: Wait, urn: string | undefined): void;
  /** Takes the sentence away: the call is sent, or will never be. */
  over(urn: string | undefined): void;
}

/** A turn that comes this much later than shown is not worth another line, in milliseconds. */
const toleratedMs = 1_000;

/**
 * Returns the waits in the rows of resources: one sentence for each, and another one only if the
 * wait has become longer, because without a terminal every message is a line of the log.
 */
export const waitRows = (show: StatusLine, clock: Pick<Clock, "now">): WaitRows => {
  const turns = new Map<string | undefined, number>();
  return {
    waits: (wait, urn) => {
      const turnAt = clock.now() + wait.waitMs;
      if (turnAt <= (turns.get(urn) ?? Number.NEGATIVE_INFINITY) + toleratedMs) return;
      turns.set(urn, turnAt);
      show(waitText(wait), urn);
    },
    over: (urn) => {
      if (turns.delete(urn)) show("", urn);
    },
  };
};
