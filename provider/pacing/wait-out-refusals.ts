import type { Clock } from "../kernel/clock.js";
import type { Pace } from "../service/http/pace.js";
import { type EndpointQueueOptions, queuePerEndpoint } from "./endpoint-queue.js";
import type { Admission, CallOutcome, Delay, EndpointLimiter } from "./limiter.js";

/**
 * An endpoint whose rate is not known: without a limit until it is refused.
 *
 * - `open`: calls go at once.
 * - `waiting`: one was refused; no call goes before the pause is over, then one.
 * - `recovering`: that one got through; 2, 3, 4 … calls may be under way together while they do.
 */
interface BackOffState {
  readonly phase: "open" | "waiting" | "recovering";
  /** Time of this state, in milliseconds. */
  readonly at: number;
  /** Time left of the pause, in milliseconds. */
  readonly leftMs: number;
  readonly refusalsInRow: number;
  readonly underWay: number;
  /** Calls that may be under way together while recovering. */
  readonly window: number;
  readonly admitted: number;
  /** Calls up to this number were under way when one of them was refused. */
  readonly heldAt: number;
}

const openAtFirst: BackOffState = {
  phase: "open",
  at: 0,
  leftMs: 0,
  refusalsInRow: 0,
  underWay: 0,
  window: 1,
  admitted: 0,
  heldAt: 0,
};

/** First pause in milliseconds; it doubles up to 16 s (specification §8.1 rule 6). */
const firstPauseMs = 1_000;
/** From 1 s to 16 s: 1, 2, 4 s are the specification's, and then as long again twice. */
const mostDoublings = 4;

/** More calls than this are hardly ever under way together: the endpoint is open again. */
const openWindow = 16;

/** Time goes on, or stands still; what was slept counts. */
const atTime = (state: BackOffState, now: number, sleptMs: number): BackOffState => {
  const passedMs = Math.max(now - state.at, sleptMs, 0);
  return { ...state, at: now, leftMs: Math.max(0, state.leftMs - passedMs) };
};

const accepted = (state: BackOffState, { number }: Admission): BackOffState => {
  // Sent before the refusal: says nothing of the time after it.
  if (state.phase === "open" || number <= state.heldAt) return state;
  const window = state.window + 1;
  const phase = window >= openWindow ? "open" : "recovering";
  return { ...state, phase, window, refusalsInRow: 0 };
};

const refused = (
  state: BackOffState,
  { number }: Admission,
  askedMs: number | undefined,
): BackOffState => {
  // Calls that were under way together are refused together: that is one refusal, not many.
  const isNew = number > state.heldAt;
  const refusalsInRow = state.refusalsInRow + (isNew ? 1 : 0);
  const doublings = Math.min(mostDoublings, refusalsInRow - 1);
  const leftMs = Math.max(state.leftMs, askedMs ?? firstPauseMs * 2 ** doublings);
  const heldAt = isNew ? state.admitted : state.heldAt;
  return { ...state, phase: "waiting", window: 1, refusalsInRow, leftMs, heldAt };
};

/** The limiter of an endpoint whose rate is not known, for this process alone. */
export class UnlimitedUntilRefused implements EndpointLimiter {
  readonly #clock: Pick<Clock, "now">;
  #state = openAtFirst;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  ask(slept?: { readonly ms: number }): Admission | Delay {
    const at = this.#clock.now();
    const state = atTime(this.#state, at, slept?.ms ?? 0);
    this.#state = state;
    const { leftMs, phase, underWay, window } = state;
    const delay = { periodMs: firstPauseMs, at };
    if (leftMs > 0) return { ...delay, waitMs: leftMs, mayEndEarly: false };
    const isFull = phase !== "open" && underWay >= window;
    if (isFull) return { ...delay, waitMs: Number.POSITIVE_INFINITY, mayEndEarly: true };
    const number = state.admitted + 1;
    this.#state = { ...state, admitted: number, underWay: underWay + 1 };
    return { kind: "due", number, at, tokens: 1 };
  }

  ended(admission: Admission, outcome: CallOutcome): void {
    const before = { ...this.#state, underWay: this.#state.underWay - 1 };
    // A failed call frees its place like an accepted one: it was not refused.
    this.#state =
      outcome.type === "refused"
        ? refused(atTime(before, this.#clock.now(), 0), admission, outcome.askedMs)
        : accepted(before, admission);
  }
}

/**
 * For rates that are not known: sends at once and, after a 429, holds back that one endpoint while
 * others go on. The wait is what Retry-After asks for, else 1, 2, 4, 8, 16 s (specification §8.1 rule 6).
 */
export const waitOutRefusals = (options: EndpointQueueOptions): Pace =>
  queuePerEndpoint(() => new UnlimitedUntilRefused(options.clock), options);
