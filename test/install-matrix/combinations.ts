/** What users combine. Each list begins with what most of them have. */
export const dimensions = {
  manager: ["npm", "pnpm", "yarn"],
  place: ["direct", "transitive"],
  program: ["CommonJS", "ESM", "JavaScript"],
  cli: ["tested", "oldest", "between"],
  sdk: ["newest", "oldest"],
  typescript: ["6", "5"],
  node: ["24", "22", "26"],
} as const;

type Dimensions = typeof dimensions;

/** One value of each dimension. */
export type Combination = { readonly [Name in keyof Dimensions]: Dimensions[Name][number] };

const names = Object.keys(dimensions) as (keyof Dimensions)[];

/** Every combination there is. */
const all = (): readonly Combination[] =>
  names.reduce<readonly Partial<Combination>[]>(
    (rows, name) =>
      rows.flatMap((row) => dimensions[name].map((value) => ({ ...row, [name]: value }))),
    [{}],
  ) as readonly Combination[];

/** The pairs of values that a combination shows together. */
const pairsOf = (row: Combination): readonly string[] =>
  names.flatMap((one, at) =>
    names.slice(at + 1).map((other) => `${one}=${row[one]} ${other}=${row[other]}`),
  );

/**
 * Combinations in which every two values of two dimensions meet at least once: most faults of
 * packaging need no more than two. Always the same.
 */
export const pairwise = (): readonly Combination[] => {
  const rows = all();
  const missing = new Set(rows.flatMap(pairsOf));
  const chosen: Combination[] = [];
  const newIn = (row: Combination) => pairsOf(row).filter((pair) => missing.has(pair)).length;
  while (missing.size > 0) {
    const best = rows.reduce((found, row) => (newIn(row) > newIn(found) ? row : found));
    for (const pair of pairsOf(best)) missing.delete(pair);
    chosen.push(best);
  }
  return chosen;
};
