import type { Admission, Decision, LimiterEvent } from "./limiter-state.js";

/**
 * An endpoint whose rate is not known: without a limit until it is refused.
 *
 * - `open`: calls go at once.
 * - `waiting`: one was refused; no call goes before the pause is over, then one.
 * - `recovering`: that one got through; 2, 3, 4 … calls may be under way together while they do.
 */
export interface BackOffState {
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

export const backOffAtFirst: BackOffState = {
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

export interface BackOffStep {
  readonly state: BackOffState;
  readonly decision: Decision;
}

/** Time goes on, or stands still; what was slept counts. */
const atTime = (state: BackOffState, now: number, sleptMs: number): BackOffState => {
  const passedMs = Math.max(now - state.at, sleptMs, 0);
  return { ...state, at: now, leftMs: Math.max(0, state.leftMs - passedMs) };
};

const asked = (before: BackOffState, sleptMs: number, now: number): BackOffStep => {
  const state = atTime(before, now, sleptMs);
  if (state.leftMs > 0)
    return { state, decision: { waitMs: state.leftMs, mayEndEarly: false, at: now } };
  const isFull = state.phase !== "open" && state.underWay >= state.window;
  if (isFull)
    return { state, decision: { waitMs: Number.POSITIVE_INFINITY, mayEndEarly: true, at: now } };
  const admission: Admission = { kind: "due", number: state.admitted + 1, at: now, tokens: 1 };
  const next = { ...state, admitted: admission.number, underWay: state.underWay + 1 };
  return { state: next, decision: admission };
};

const accepted = (state: BackOffState, { number }: Admission): BackOffState => {
  const underWay = state.underWay - 1;
  // Sent before the refusal: says nothing of the time after it.
  if (state.phase === "open" || number <= state.heldAt) return { ...state, underWay };
  const window = state.window + 1;
  const phase = window >= openWindow ? "open" : "recovering";
  return { ...state, phase, underWay, window, refusalsInRow: 0 };
};

const refused = (
  before: BackOffState,
  { number }: Admission,
  askedMs: number | undefined,
  now: number,
): BackOffState => {
  const state = atTime(before, now, 0);
  const underWay = state.underWay - 1;
  // Calls that were under way together are refused together: that is one refusal, not many.
  const isNew = number > state.heldAt;
  const refusalsInRow = state.refusalsInRow + (isNew ? 1 : 0);
  const doublings = Math.min(mostDoublings, refusalsInRow - 1);
  const leftMs = Math.max(state.leftMs, askedMs ?? firstPauseMs * 2 ** doublings);
  const heldAt = isNew ? state.admitted : state.heldAt;
  return { ...state, phase: "waiting", window: 1, underWay, refusalsInRow, leftMs, heldAt };
};

/** The limiter of an endpoint whose rate is not known, as a pure function. */
export const backOff = (state: BackOffState, event: LimiterEvent, now: number): BackOffStep => {
  switch (event.type) {
    case "ask":
      return asked(state, event.slept?.ms ?? 0, now);
    case "accepted":
      return { state: accepted(state, event.admission), decision: undefined };
    case "ended":
      // A failed call frees its place like an accepted one: it was not refused.
      return { state: accepted(state, event.admission), decision: undefined };
    case "refused":
      return { state: refused(state, event.admission, event.askedMs, now), decision: undefined };
  }
};
