/** Letters to add, leave out or exchange until one text is the other. */
const distance = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (const [place, letter] of [...one].entries()) {
    const next = [place + 1];
    for (const [at, wanted] of [...other].entries()) {
      const [left = 0, above = 0, before = 0] = [next[at], row[at + 1], row[at]];
      next.push(Math.min(left + 1, above + 1, before + (letter === wanted ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
};

const mostTypos = 2;

/**
 * The word that was probably meant, in any case: at most two letters off, and fewer than half of
 * its own. Undefined where there is none.
 */
export const nearestWord = (text: string, words: readonly string[]): string | undefined => {
  const candidates = words
    .filter((word) => Math.abs(word.length - text.length) <= mostTypos)
    .map((word) => ({ word, off: distance(text.toLowerCase(), word.toLowerCase()) }))
    .filter(({ word, off }) => off <= mostTypos && off < word.length / 2);
  return candidates.sort((a, b) => a.off - b.off)[0]?.word;
};

/** `; did you mean plan?`, or nothing where no word is near. */
export const nearestHint = (text: string, words: readonly string[]): string => {
  const meant = nearestWord(text, words);
  return meant === undefined ? "" : `; did you mean ${meant}?`;
};
