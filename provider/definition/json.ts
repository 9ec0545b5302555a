/** A JSON object whose members are not known yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Members in order, those without a value left out; safe for keys such as `__proto__`. */
export const objectOf = (entries: Iterable<readonly [string, unknown]>): JsonObject =>
  Object.fromEntries([...entries].filter(([, value]) => value !== undefined));
