const withoutZone = /^\d{4}-\d\d-\d\d[T ][\d:.]+$/;

/**
 * A time that the service tells of an object, in milliseconds since 1970; NaN where it tells none. Its
 * times are GMT (public reference), also where it leaves the zone out.
 */
export const objectTime = (told: unknown): number =>
  typeof told === "string" ? Date.parse(withoutZone.test(told) ? `${told}Z` : told) : Number.NaN;
