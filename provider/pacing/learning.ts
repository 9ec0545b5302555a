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
const secondMissPart = 0.12;
/** So many calls got through since the last refusal that it counts as rare. */
const rareAfter = 8;
/** So much of a period lost to lateness in the mean is worth another refusal to be sure. */
const doubtPart = 0.1;
const doubtAfter = 50;
/** Less of a token than this makes no difference. */
const leastTrialTokens = 0.05;
const mostPeriods = 8;
/** After a search that ended in a refusal, no new one for so long, in milliseconds. */
const restMs = 10 * 60_000;

const nothingKnown: Lesson = { spike: 0, single: false, searched: false, settled: false };

/**
 * What one process finds out about the bucket of one endpoint.
 *
 * A token that has come back at the rate of the limit is certain. Whether more were saved up before
 * is found by trying, one call at a time (two once there is more than one, but the first time only), until
 * one is refused: mostly the only refusal of an endpoint that nobody else uses. A bucket that saves
 * up nothing shows itself by a second one and is given a margin from then on.
 */
export class Learning {
  readonly #burst: number;
  readonly #mostSpike: number;
  #lesson = nothingKnown;
  #searching = true;
  #idleTokens = 0;
  /** What the last trial may have had of the next due call's token. */
  #trialTokens = 0;
  #missedAt = Number.NEGATIVE_INFINITY;
  #refusalsInRow = 0;
  #shortPauses = 0;
  #good = 0;
  #refusedBefore = false;
  #lateness = 0;
  /** Tokens that are made up for after a timer was late. */
  #mostLate = Number.POSITIVE_INFINITY;
  #doubted = false;
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
    const late = Math.min(this.#burst, Math.max(2, this.#madeUp(periodMs)));
    const configured = Number.isFinite(this.#burst);
    const spike = configured ? this.#mostSpike : Math.min(this.#lesson.spike, this.#mostSpike);
    return { periodMs, capacity: Math.max(spike, late), marginMs: 0 };
  }

  /** Tokens that timers being late may leave in the bucket, and which are then used at once. */
  #madeUp(periodMs: number): number {
    return Math.min(this.#mostLate, 1 + latenessMs / periodMs);
  }

  /** Takes over what is kept of the bucket; whoever learns something keeps it at once. */
  adopt(lesson: Lesson): void {
    if (lesson.searched && !this.#lesson.searched) this.#searching = false;
    this.#lesson = lesson;
  }

  /** Tokens due before a call: many of them mean that the bucket may be fuller than was ever seen. */
  noticed(tokens: number, capacity: number, now: number): void {
    if (tokens <= capacity + 1) return;
    this.#idleTokens = tokens;
    if (!this.#lesson.settled && now - this.#missedAt > restMs) this.#searching = true;
  }

  /**
   * Whether a call may be tried although its token is not due, with so many such calls under way,
   * and so many others.
   */
  mayTry(underWay: number, others: number): boolean {
    const { spike, searched } = this.#lesson;
    const together = spike < 2 || searched ? 1 : 2;
    const room = underWay + others < together && spike + underWay < this.#mostSpike;
    return this.#searching && room;
  }

  /** @param tokens part of a token that was due when the call was tried */
  trialAccepted(tokens: number): void {
    const { spike, single } = this.#lesson;
    this.#trialTokens = tokens;
    this.#lesson = { ...this.#lesson, spike: single ? 2 : spike + 1, single: false };
  }

  trialRefused(now: number): void {
    this.#missedAt = now;
    this.#searching = false;
    const settled = this.#idleTokens >= 2 * Math.max(1, this.#lesson.spike);
    this.#lesson = { ...this.#lesson, searched: true, settled };
  }

  /** @param tokens tokens that were due when the call was sent */
  accepted(tokens: number): void {
    this.#refusalsInRow = 0;
    if (!this.#searching) this.#trialTokens = 0;
    this.#good += 1;
    if (this.#good % 50 === 0) this.#marginFactor = Math.max(1, this.#marginFactor * 0.9);
    this.#doubt(Math.min(1, Math.max(0, tokens - 1)));
  }

  /**
   * A machine that stalls makes an empty bucket look like one that saves up nothing, and then all of
   * its lateness is lost. Where that is much, what was found is tested again, once.
   */
  #doubt(late: number): void {
    this.#lateness += (late - this.#lateness) / doubtAfter;
    const found = this.#lesson.single && !Number.isFinite(this.#burst);
    if (!found || this.#doubted || this.#good < doubtAfter || this.#lateness < doubtPart) return;
    this.#doubted = true;
    this.#lesson = { ...this.#lesson, single: false };
  }

  /** A call whose token was due, or believed to be saved up, was refused: how long to hold back. */
  refused(savedUp: boolean, periodMs: number): number {
    const rare = this.#good >= rareAfter || !this.#refusedBefore;
    this.#refusedBefore = true;
    this.#good = 0;
    this.#idleTokens = 0;
    this.#refusalsInRow += 1;
    if (savedUp) return this.#fewerSavedUp(periodMs);
    const borrowed = this.#trialTokens;
    this.#trialTokens = 0;
    if (borrowed > leastTrialTokens) return borrowed * periodMs;
    return this.#pauseMs(rare, periodMs);
  }

  /** After a near miss two short pauses, else and then 1, 2, 4, 8 periods. */
  #pauseMs(rare: boolean, periodMs: number): number {
    const first = this.#refusalsInRow === 1;
    if (first) this.#shortPauses = rare || this.#lesson.single ? 2 : 0;
    if (this.#shortPauses === 0) {
      const pauses = this.#refusalsInRow - 1;
      return periodMs * Math.min(mostPeriods, 2 ** Math.max(0, pauses - 2));
    }
    this.#shortPauses -= 1;
    if (!first) return secondMissPart * periodMs;
    this.#nearMiss(periodMs);
    return Math.max(2 * this.#marginMs(periodMs), nearMissPart * periodMs);
  }

  #fewerSavedUp(periodMs: number): number {
    this.#lesson = { ...this.#lesson, spike: Math.max(1, Math.floor(this.#lesson.spike / 2)) };
    return periodMs;
  }

  /** Refused although it was its turn: the call came early by some milliseconds, or was not alone. */
  #nearMiss(periodMs: number): void {
    const { single, spike } = this.#lesson;
    if (single || this.#burst === 1) this.#marginFactor *= 2;
    // The bucket may hold less than was made up for.
    else if (spike >= 2 && this.#madeUp(periodMs) > spike) this.#mostLate = spike;
    else if (spike < 2 && !Number.isFinite(this.#burst)) {
      this.#lesson = { ...this.#lesson, single: true };
    } else if (spike < 4) {
      // Calls that arrived late may have looked like a small spike.
      this.#lesson = { ...this.#lesson, spike: Math.max(1, spike - 1) };
    }
  }

  #marginMs(periodMs: number): number {
    const least = Math.max(leastMarginMs, marginPart * periodMs);
    return Math.min(periodMs / 4, least * this.#marginFactor);
  }
}
