/** Whether a preview does not know the value yet: reading it then throws. */
const isUnknown = (error: unknown): boolean =>
  error instanceof Error && error.constructor.name === "UnknownValueError";

/** What is read, or undefined while a preview does not know it. */
export const whereKnown = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch (error) {
    if (isUnknown(error)) return undefined;
    throw error;
  }
};

/** The items of a list that a preview knows; none where it does not know the list. */
export const knownItems = <T>(read: () => readonly T[] | undefined): readonly T[] => {
  const list = whereKnown(read) ?? [];
  const places = Array.from({ length: whereKnown(() => list.length) ?? 0 }, (_, place) => place);
  return places.flatMap((place) => whereKnown(() => list[place]) ?? []);
};
