import type { Bucket } from "./bucket.js";
import { noRefusals, type Refusals } from "./refusal-pauses.js";

/** Leave to send one call now. */
export interface Admission {
  /**
   * `due`: its token came back at the limit's rate. `saved`: saved up before. `probe`: to find out
   * whether more is saved up. `early`: to find out whether the rate is higher.
   */
  readonly kind: "due" | "saved" | "probe" | "early";
  /** Counts the admissions of this process. */
  readonly number: number;
  /** The store's time, in milliseconds. */
  readonly at: number;
  /** Tokens that were due before. */
  readonly tokens: number;
  /** See {@link Bucket}: how it was before this call, which proves nothing if it is refused. */
  readonly unprovedMs?: number;
}

/** Not now. */
export interface Delay {
  /** Infinite: until an answer comes. */
  readonly waitMs: number;
  /** Time in which one token comes back: how much longer each further call waits, in milliseconds. */
  readonly periodMs: number;
  /** An answer that is on its way may end the wait before. */
  readonly mayEndEarly: boolean;
  /** The store's time, in milliseconds. */
  readonly at: number;
}

/** A delay that was slept in full. */
export interface Slept {
  readonly ms: number;
  /** The store's time before, in milliseconds. */
  readonly since: number;
}

/** How a call ended. `ended`: without an answer, or it was never sent. */
export type CallOutcome =
  | { readonly type: "accepted" | "ended" }
  /** `askedMs`: pause that the service asks for, in milliseconds. */
  | { readonly type: "refused"; readonly askedMs?: number | undefined };

/** Decides for one endpoint when calls go, and learns from how they end. */
export interface EndpointLimiter {
  /** @param slept the last delay, where it was slept in full */
  ask(slept?: Slept): Admission | Delay | Promise<Admission | Delay>;
  ended(admission: Admission, outcome: CallOutcome): void | Promise<void>;
}

/**
 * What an answer says of the plan. `early`: the call went sooner than the plan allows. `probe`: it
 * was to find out the burst, so its refusal says nothing against the plan.
 */
export type PlanEvidence =
  | "accepted"
  | "refused"
  | "early accepted"
  | "early refused"
  | "probe refused";

/** What holds for the calls of an endpoint. */
export interface RateLimit {
  /** Time in which one token comes back, in milliseconds. */
  readonly periodMs: number;
  /** Calls that it takes at once, where that is configured. */
  readonly burst?: number | undefined;
  /** Calls that may be made at once: the burst, or the part of it that this tool may use. */
  readonly mostBurst: number;
  /** Part of a token at which a call may be tried, while a higher plan is tried. */
  readonly early?: number | undefined;
  /** Names this process among those that share the bucket. */
  readonly process: string;
}

/** What one process keeps for itself. */
export interface OwnState {
  readonly underWay: Readonly<Record<Admission["kind"], number>>;
  readonly admitted: number;
  /** Numbers of the last probe, of the last call before calls were held back, and before any refusal. */
  readonly lastProbe: number;
  readonly heldAt: number;
  readonly refusedAt: number;
  /** Saved-up calls that may be under way together: 1, 2, 4, 8 while they get through. */
  readonly window: number;
  /** The store's time of the last call that was no probe. */
  readonly takenAt: number;
  /** Time that the last probe took, in milliseconds. */
  readonly roundTripMs: number;
  /** The store's clock stood still for so long while this process slept, in milliseconds. */
  readonly behindMs: number;
  /** Since a pause: a call was answered, and tokens that were left of those there at first. */
  readonly isAnswered: boolean;
  readonly tokensLeft: number | undefined;
  readonly refusals: Refusals;
  /** Part of a period by which calls go out late, in the mean. */
  readonly lateness: number;
  readonly wasDoubted: boolean;
}

/** All that decides; `bucket` is shared with other processes. */
export interface LimiterState {
  readonly own: OwnState;
  readonly bucket: Bucket | undefined;
}

/** The next state, in which `bucket` is the very same value where nothing has to be kept, and what follows. */
export interface LimiterStep<R> {
  readonly state: LimiterState;
  readonly result: R;
}

export const ownAtFirst: OwnState = {
  underWay: { due: 0, saved: 0, probe: 0, early: 0 },
  admitted: 0,
  lastProbe: 0,
  heldAt: 0,
  refusedAt: 0,
  window: 1,
  takenAt: Number.NEGATIVE_INFINITY,
  roundTripMs: 0,
  behindMs: 0,
  isAnswered: false,
  tokensLeft: undefined,
  refusals: noRefusals,
  lateness: 0,
  wasDoubted: false,
};
