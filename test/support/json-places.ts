type Place = readonly (string | number)[];

/** The place of every value inside a value, the whole included. */
export const placesIn = (value: unknown, here: Place = []): Place[] => {
  const inside = Array.isArray(value)
    ? value.flatMap((item, place) => placesIn(item, [...here, place]))
    : typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([name, item]) => placesIn(item, [...here, name]))
      : [];
  return [here, ...inside];
};

export const changedAt = (value: unknown, [step, ...rest]: Place, other: unknown): unknown => {
  if (step === undefined) return other;
  if (Array.isArray(value))
    return value.map((item, at) => (at === step ? changedAt(item, rest, other) : item));
  return { ...Object(value), [step]: changedAt(Object(value)[step], rest, other) };
};
