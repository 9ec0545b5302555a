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
export interface Wait {
  /** Infinite: until an answer comes. */
  readonly waitMs: number;
  /** An answer that is on its way may end the wait before. */
  readonly mayEndEarly: boolean;
  /** The store's time, in milliseconds. */
  readonly at: number;
}

/** A wait that was slept in full. */
export interface Slept {
  readonly ms: number;
  /** The store's time before, in milliseconds. */
  readonly since: number;
}

/** What happens at an endpoint. */
export type LimiterEvent =
  /** A call wants to go. */
  | { readonly type: "ask"; readonly slept?: Slept | undefined }
  | { readonly type: "accepted" | "ended"; readonly admission: Admission }
  | {
      readonly type: "refused";
      readonly admission: Admission;
      /** Pause that the service asks for, in milliseconds. */
      readonly askedMs?: number;
    };

/** What follows. `strike`: a call was refused although the rate allowed it. */
export type Decision = Admission | Wait | "strike" | undefined;

/** What one process keeps for itself. */
export interface OwnState {
  readonly underWay: Readonly<Record<Admission["kind"], number>>;
  readonly admitted: number;
  /** Numbers of the last probe, and of the last call before calls were held back. */
  readonly lastProbe: number;
  readonly heldAt: number;
  /** Saved-up calls that may be under way together: 1, 2, 4, 8 while they get through. */
  readonly window: number;
  /** The store's time of the last call that was no probe. */
  readonly takenAt: number;
  /** Time that the last probe took, in milliseconds. */
  readonly roundTripMs: number;
  /** The store's clock stood still for so long while this process slept, in milliseconds. */
  readonly behindMs: number;
  /** Since a pause: a call was answered, and tokens that were left of those there at first. */
  readonly answered: boolean;
  readonly left: number | undefined;
  readonly refusals: Refusals;
  /** Part of a period by which calls go out late, in the mean. */
  readonly lateness: number;
  readonly doubted: boolean;
}

/** All that decides; `bucket` is shared with other processes. */
export interface LimiterState {
  readonly own: OwnState;
  readonly bucket: Bucket | undefined;
}

/** The next state; `bucket` is the very same value where nothing has to be kept. */
export interface Step {
  readonly state: LimiterState;
  readonly decision: Decision;
}

export const ownAtFirst: OwnState = {
  underWay: { due: 0, saved: 0, probe: 0, early: 0 },
  admitted: 0,
  lastProbe: 0,
  heldAt: 0,
  window: 1,
  takenAt: Number.NEGATIVE_INFINITY,
  roundTripMs: 0,
  behindMs: 0,
  answered: false,
  left: undefined,
  refusals: noRefusals,
  lateness: 0,
  doubted: false,
};

/** One more, or one fewer, under way. */
export const counting = (own: OwnState, kind: Admission["kind"], change: number): OwnState => ({
  ...own,
  underWay: { ...own.underWay, [kind]: own.underWay[kind] + change },
});
