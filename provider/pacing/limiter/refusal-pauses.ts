/** What one process remembers of refusals on one endpoint. */
export interface Refusals {
  /** Since a call got through. */
  readonly inRow: number;
  /** Short pauses that may still be tried. */
  readonly shortLeft: number;
  /** Calls that got through since the last refusal. */
  readonly acceptedSince: number;
  /** Ever. */
  readonly wasRefused: boolean;
}

export const noRefusals: Refusals = { inRow: 0, shortLeft: 0, acceptedSince: 0, wasRefused: false };

/**
 * So many calls got through since the last refusal that it counts as rare. With 2 a bucket that others
 * use, too, refuses 25 % more calls; with 32 nothing changes (measured in virtual time).
 */
const rareAfter = 8;

/**
 * A near miss is over after a moment: the two short pauses, in periods. Without them a burst of one
 * takes 1.34 times as long (measured in virtual time).
 */
const shortPauses = [0.02, 0.12] as const;

/**
 * Longest pause of our own, in periods: 8 s at one call a second (specification §8.1 rule 6). With 2 a
 * burst of one that others use, too, takes 22 % longer (measured in virtual time).
 */
const mostPeriods = 8;

/**
 * Spreads pauses from 75 to 125 %, by the golden ratio as evenly as can be, so that they do not fall in
 * step with somebody else's regular calls.
 */
const spread = (number: number): number => 0.75 + 0.5 * ((number * 0.618_034) % 1);

export const afterAccepted = (refusals: Refusals): Refusals => ({
  ...refusals,
  inRow: 0,
  acceptedSince: refusals.acceptedSince + 1,
});

const longPause = (inRow: number): number => {
  const doublings = Math.max(0, inRow - 3);
  const periods = Math.min(mostPeriods, 2 ** doublings);
  return doublings === 0 ? periods : periods * spread(inRow);
};

/**
 * After the refusal of a due call: two short pauses where it may have been a near miss, then 1, 2, 4,
 * 8 periods.
 *
 * @param isSpaced the bucket saves up nothing, so near misses are no surprise
 */
export const afterRefusal = (
  refusals: Refusals,
  isSpaced: boolean,
): { readonly refusals: Refusals; readonly pausePeriods: number; readonly isNearMiss: boolean } => {
  const inRow = refusals.inRow + 1;
  const isRare = refusals.acceptedSince >= rareAfter || !refusals.wasRefused;
  const atFirst = isRare || isSpaced ? shortPauses.length : 0;
  const shortLeft = inRow > 1 ? refusals.shortLeft : atFirst;
  const next = { inRow, acceptedSince: 0, wasRefused: true };
  if (shortLeft === 0) {
    const pausePeriods = longPause(inRow);
    return { refusals: { ...next, shortLeft }, pausePeriods, isNearMiss: false };
  }
  const pausePeriods = shortPauses[shortPauses.length - shortLeft] ?? 1;
  return {
    refusals: { ...next, shortLeft: shortLeft - 1 },
    pausePeriods,
    isNearMiss: inRow === 1,
  };
};

/** A header that says whole seconds may say up to a second too much, in milliseconds. */
const wholeMs = 1000;

/** Longest wait that is believed at all, in periods; the same as {@link longestRetryAfterMs}. */
const mostBelieved = 16;

/**
 * The pause after a refusal where the service asks for another: its word counts as far as it can be
 * true. A bucket gives a token back within a period, so a longer wait is at first taken for a mistake,
 * then believed for 1, 2, 4, 8, 16 periods while the calls are still refused.
 *
 * @param ownMs what would be waited without a word of the service
 * @param askedMs what the service asks for
 * @param inRow refusals since a call got through, this one included
 */
export const pauseAsked = (
  ownMs: number,
  askedMs: number | undefined,
  inRow: number,
  periodMs: number,
): number => {
  if (askedMs === undefined) return ownMs;
  const inexact = askedMs % wholeMs === 0 ? wholeMs : 0;
  if (inRow <= 1 && askedMs > periodMs + inexact) return ownMs;
  const most = Math.min(mostBelieved, 2 ** Math.max(0, inRow - 2)) * periodMs;
  const atLeastMs = Math.min(askedMs - inexact, most);
  return Math.min(Math.max(ownMs, atLeastMs), Math.min(askedMs, most));
};
