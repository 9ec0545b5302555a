const sorts: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  bigint: "a number",
  boolean: "true or false",
  function: "a function",
  undefined: "nothing",
};

/** Of which sort a value is, in words for a message. Never the value itself, which may be a secret. */
export const valueSort = (value: unknown): string => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (value instanceof Promise) return "a promise";
  return sorts[typeof value] ?? "an object";
};
