/**
 * JSON text as a value, without any `__proto__` member: such a member is harmless where it stands
 * but changes the prototype of whatever it is merged into. Throws a SyntaxError.
 */
export const parseJson = (text: string): unknown => {
  // The cheap look first: a reviver makes parsing several times slower. `\u` may spell the name too.
  const suspicious = text.includes("__proto__") || text.includes("\\u");
  return suspicious ? JSON.parse(text, withoutPrototype) : JSON.parse(text);
};

const withoutPrototype = (key: string, value: unknown): unknown =>
  key === "__proto__" ? undefined : value;

/** Whether a value is a JSON object: no array, not null. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
