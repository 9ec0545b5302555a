/**
 * For each item the place of another one that fits and is nobody else's; undefined where none is left.
 * As many items as can have one do, since what fits two items may be all that fits the third: who came
 * first makes way where it has another place (augmenting paths). The item's own place is tried first.
 */
export const matching = (
  items: readonly unknown[],
  others: readonly unknown[],
  fits: (other: unknown, item: unknown) => boolean,
): readonly (number | undefined)[] => {
  const found: (number | undefined)[] = items.map(() => undefined);
  const holders = new Map<number, number>();
  const findPlace = (at: number, tried: Set<number>): boolean => {
    const places = at < others.length ? [at, ...others.keys()] : [...others.keys()];
    return places.some((place) => {
      if (tried.has(place) || !fits(others[place], items[at])) return false;
      tried.add(place);
      const holder = holders.get(place);
      if (holder !== undefined && !findPlace(holder, tried)) return false;
      holders.set(place, at);
      found[at] = place;
      return true;
    });
  };
  for (const at of items.keys()) findPlace(at, new Set());
  return found;
};
