/** Longest id of an object, in characters. */
export const longestId = 128;

const allowed = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;

/**
 * Whether a value can be the id of an object: a letter or digit, then up to 127 more, `_` or `-`.
 * Nothing else may stand in a path, as it could leave its segment.
 */
export const isId = (id: unknown): id is string =>
  typeof id === "string" && id.length <= longestId && allowed.test(id);
