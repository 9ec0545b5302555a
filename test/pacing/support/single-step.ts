import type { TrueBucket } from "../../../bench/true-bucket.js";
import type {
  Admission,
  CallOutcome,
  Delay,
  Slept,
} from "../../../provider/pacing/endpoint-queue.js";
import {
  afterOutcome,
  type Bucket,
  type LimiterState,
  nextTurn,
  ownAtFirst,
  type RateLimit,
  unknownBucket,
} from "../../../provider/pacing/limiter.js";

/** What happens at an endpoint: a call wants to go, or it has ended. */
export type LimiterEvent =
  | { readonly type: "ask"; readonly slept?: Slept }
  | (CallOutcome & { readonly admission: Admission });

export interface Decided {
  readonly state: LimiterState;
  readonly decision: Admission | Delay | undefined;
}

/** One call a second; nothing is configured. */
export const limit: RateLimit = {
  periodMs: 1000,
  mostBurst: Number.POSITIVE_INFINITY,
  process: "one",
};

export const atFirst = (bucket?: Bucket): LimiterState => ({ own: ownAtFirst, bucket });

/** A bucket of which something is known. */
export const bucket = (known: Partial<Bucket> = {}): Bucket => ({
  ...unknownBucket(0, 1000),
  ...known,
});

const frozen = <T>(value: T): T => {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) frozen(member);
  }
  return value;
};

/** A step of which the state before may not be changed. */
export const frozenStep = (
  before: LimiterState,
  event: LimiterEvent,
  now: number,
  rules = limit,
): Decided => {
  frozen([before, event]);
  if (event.type === "ask") {
    const { state, result } = nextTurn(before, event.slept, now, rules);
    return { state, decision: result };
  }
  const { state } = afterOutcome(before, event.admission, event, now, rules);
  return { state, decision: undefined };
};

export interface Asked {
  readonly state: LimiterState;
  /** 0 where a call went. */
  readonly waitMs: number;
}

/** Asks for a call and, if it may go, has it answered at once by a true bucket. */
export const askedAndAnswered = (state: LimiterState, now: number, service: TrueBucket): Asked => {
  const { state: next, decision } = frozenStep(state, { type: "ask" }, now);
  if (typeof decision !== "object") throw new Error("No decision.");
  if (!("kind" in decision)) return { state: next, waitMs: decision.waitMs };
  const type = service.take(now) ? "accepted" : "refused";
  const answered = frozenStep(next, { type, admission: decision }, now);
  return { state: answered.state, waitMs: 0 };
};

/** Makes calls as soon as they may go, in a time that is counted only. */
export const callsFrom = (
  before: LimiterState,
  start: number,
  calls: number,
  service: TrueBucket,
): { readonly state: LimiterState; readonly now: number } => {
  let [state, now] = [before, start];
  for (const until = service.accepted + calls; service.accepted < until; ) {
    const asked = askedAndAnswered(state, now, service);
    state = asked.state;
    now += asked.waitMs;
  }
  return { state, now };
};
