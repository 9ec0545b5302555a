/** Every place inside a value. */
export const places = (
  value: unknown,
  here: readonly (string | number)[] = [],
): (string | number)[][] => {
  const inside = Array.isArray(value)
    ? value.flatMap((item, place) => places(item, [...here, place]))
    : typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([name, item]) => places(item, [...here, name]))
      : [];
  return [[...here], ...inside];
};
