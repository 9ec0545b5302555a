import type { TrueBucket } from "../../../bench/true-bucket.js";
import type { Admission, CallOutcome, Slept } from "../../../provider/pacing/endpoint-queue.js";
import {
  afterOutcome,
  type Bucket,
  fullBucket,
  type LimiterState,
  nextTurn,
  ownAtFirst,
  type RateLimit,
} from "../../../provider/pacing/limiter.js";

/** One call a second, five at once. */
export const limit: RateLimit = { periodMs: 1000, burst: 5, mostBurst: 5 };

export const atFirst = (bucket?: Bucket): LimiterState => ({ own: ownAtFirst, bucket });

/** A full bucket, except for what is given. */
export const bucket = (given: Partial<Bucket> = {}): Bucket => ({
  ...fullBucket(0, limit),
  ...given,
});

const frozen = <T>(value: T): T => {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) frozen(member);
  }
  return value;
};

/** A call wants to go; the state before may not be changed. */
export const asked = (before: LimiterState, now: number, slept?: Slept, rules = limit) => {
  const { state, result: decision } = nextTurn(frozen(before), slept, now, rules);
  return { state, decision };
};

/** The same where it must be admitted. */
export const admitted = (before: LimiterState, now: number) => {
  const { state, decision } = asked(before, now);
  if (!("kind" in decision)) throw new Error("Not due.");
  return { state, admission: decision };
};

/** The same where it must wait: for how long, in milliseconds. */
export const waitOf = (before: LimiterState, now: number): number => {
  const { decision } = asked(before, now);
  if ("kind" in decision) throw new Error("No pause.");
  return decision.waitMs;
};

/** A call that was answered at once. */
export const accepted: CallOutcome = { type: "accepted", tookMs: 0 };

/** The state after a call has ended; the state before may not be changed. */
export const ended = (
  before: LimiterState,
  admission: Admission,
  outcome: CallOutcome,
  now: number,
): LimiterState =>
  afterOutcome(frozen(before), frozen(admission), frozen(outcome), now, limit).state;

/** Asks for a call and, if it may go, has it answered at once by a true bucket. @returns 0 ms then */
export const askedAndAnswered = (before: LimiterState, now: number, service: TrueBucket) => {
  const { state, decision } = asked(before, now);
  if (!("kind" in decision)) return { state, waitMs: decision.waitMs };
  const outcome = service.take(now) ? accepted : ({ type: "refused" } as const);
  return { state: ended(state, decision, outcome, now), waitMs: 0 };
};
