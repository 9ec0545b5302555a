import type { BucketRules, Lesson } from "./buckets.js";

export interface LearningOptions {
  /** Calls that the endpoint takes in a spike, where it is configured. */
  readonly burst?: number;
  /** Part of the limit that may be used: above 0, at most 1. */
  readonly share: number;
}

/** Lateness of our own timers that is made up for by sending the next call early, in milliseconds. */
const latenessMs = 150;
const leastMarginMs = 5;
const marginPart = 0.004;
const nearMissPart = 0.02;
/** So many calls got through since the last refusal that it counts as rare. */
const rareAfter = 8;
const mostPeriods = 8;
/** After a search that ended in a refusal, no new one for so long, in milliseconds. */
const restMs = 10 * 60_000;

const nothingKnown: Lesson = { spike: 0, single: false, searched: false, settled: false };

/**
 * What one process finds out about the bucket of one endpoint.
 *
 * A token that has come back at the rate of the limit is certain. Whether more were saved up before
 * is found by trying, one call at a time (two once it is clear that there is more than one), until
 * one is refused: the only refusal of an endpoint that nobody else uses. A bucket that saves up
 * nothing shows itself by a second one and is given a margin from then on.
 */
export class Learning {
  readonly #burst: number;
  readonly #mostSpike: number;
  #lesson = nothingKnown;
  #searching = true;
  #idleTokens = 0;
  #missedAt = Number.NEGATIVE_INFINITY;
  #refusalsInRow = 0;
  #good = 0;
  #refusedBefore = false;
  #marginFactor = 1;

  constructor({ burst, share }: LearningOptions) {
    this.#burst = burst ?? Number.POSITIVE_INFINITY;
    const unknown = share < 1 ? 1 : Number.POSITIVE_INFINITY;
    this.#mostSpike = burst === undefined ? unknown : Math.max(1, Math.floor(burst * share));
  }

  get lesson(): Lesson {
    return this.#lesson;
  }

  rules(periodMs: number): BucketRules {
    const single = this.#lesson.single || this.#burst === 1;
    if (single) return { periodMs, capacity: 1, marginMs: this.#marginMs(periodMs) };
    const late = Math.min(this.#burst, Math.max(2, 1 + latenessMs / periodMs));
    const configured = Number.isFinite(this.#burst);
    const spike = configured ? this.#mostSpike : Math.min(this.#lesson.spike, this.#mostSpike);
    return { periodMs, capacity: Math.max(spike, late), marginMs: 0 };
  }

  /** Takes over what another process has found out. */
  adopt(lesson: Lesson): void {
    const own = this.#lesson;
    if (own === nothingKnown) {
      this.#lesson = lesson;
      this.#searching = !lesson.searched;
    } else {
      const spike = Math.max(own.spike, lesson.spike);
      this.#lesson = { ...own, spike, single: spike < 2 && (own.single || lesson.single) };
    }
  }

  /** Tokens due before a call: many of them mean that the bucket may be fuller than was ever seen. */
  noticed(tokens: number, capacity: number, now: number): void {
    if (tokens <= capacity + 1) return;
    this.#idleTokens = tokens;
    if (!this.#lesson.settled && now - this.#missedAt > restMs) this.#searching = true;
  }

  /** Whether a call may be tried although no token is due, with so many such calls under way. */
  mayTry(underWay: number): boolean {
    const { spike } = this.#lesson;
    const room = underWay < (spike < 2 ? 1 : 2) && spike + underWay < this.#mostSpike;
    return this.#searching && room;
  }

  trialAccepted(): void {
    const { spike, single } = this.#lesson;
    this.#lesson = { ...this.#lesson, spike: single ? 2 : spike + 1, single: false };
  }

  trialRefused(now: number): void {
    this.#searching = false;
    this.#missedAt = now;
    const settled = this.#idleTokens >= 2 * Math.max(1, this.#lesson.spike);
    this.#lesson = { ...this.#lesson, searched: true, settled };
  }

  accepted(): void {
    this.#refusalsInRow = 0;
    this.#good += 1;
    if (this.#good % 50 === 0) this.#marginFactor = Math.max(1, this.#marginFactor * 0.9);
  }

  /** A call whose token was due, or believed to be saved up, was refused: how long to hold back. */
  refused(savedUp: boolean, periodMs: number): number {
    const rare = this.#good >= rareAfter || !this.#refusedBefore;
    this.#refusedBefore = true;
    this.#good = 0;
    this.#idleTokens = 0;
    this.#refusalsInRow += 1;
    if (savedUp) return this.#fewerSavedUp(periodMs);
    if (this.#refusalsInRow > 1 || !(rare || this.#lesson.single)) {
      return periodMs * Math.min(mostPeriods, 2 ** Math.max(0, this.#refusalsInRow - 2));
    }
    this.#nearMiss();
    return Math.max(2 * this.#marginMs(periodMs), nearMissPart * periodMs);
  }

  #fewerSavedUp(periodMs: number): number {
    this.#lesson = { ...this.#lesson, spike: Math.max(1, Math.floor(this.#lesson.spike / 2)) };
    return periodMs;
  }

  /** Refused although it was its turn: the call came early by some milliseconds, or was not alone. */
  #nearMiss(): void {
    const { single, spike } = this.#lesson;
    if (single || this.#burst === 1) this.#marginFactor *= 2;
    else if (spike < 2 && !Number.isFinite(this.#burst)) {
      this.#lesson = { ...this.#lesson, single: true };
    }
  }

  #marginMs(periodMs: number): number {
    const least = Math.max(leastMarginMs, marginPart * periodMs);
    return Math.min(periodMs / 4, least * this.#marginFactor);
  }
}
