// The kernel: what the provider, the runtime client, the emulator and the commands all build on, and
// what needs none of them. JSON that comes from elsewhere is read in this file alone; beside it stand
// the one error class, ids and quoted texts, the clock, and the package's name, folder and version.
// The emulator keeps its own rules of senders, rates and content types on purpose: a second opinion.

/** A JSON object whose members are not known yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Members in order, those without a value left out; safe for keys such as `__proto__`. */
export const objectOf = (entries: Iterable<readonly [string, unknown]>): JsonObject =>
  Object.fromEntries([...entries].filter(([, value]) => value !== undefined));

/** A member of the object itself, never of its prototype. */
export const memberOf = (object: JsonObject, name: string): unknown =>
  Object.hasOwn(object, name) ? object[name] : undefined;

/** Whether two JSON values are the same: numbers by value, members in any order. */
export const sameJson = (a: unknown, b: unknown): boolean => {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, place) => sameJson(item, b[place]));
  }
  if (!isObject(a) || !isObject(b)) return a === b;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && sameJson(a[name], b[name]))
  );
};

/** No object of the service comes near; much deeper ones would overflow whoever walks through them. */
const mostDepth = 128;

/**
 * JSON text as a value, without any `__proto__` member: such a member is harmless where it stands
 * but changes the prototype of whatever it is merged into. Throws a SyntaxError, also where the
 * text is nested deeper than 128 levels.
 */
export const parseJson = (text: string): unknown => {
  if (isDeep(text)) throw new SyntaxError(`more than ${mostDepth} levels`);
  // The cheap look first: a reviver makes parsing several times slower. `\u` may spell the name too.
  const suspicious = text.includes("__proto__") || text.includes("\\u");
  return suspicious ? JSON.parse(text, withoutPrototype) : JSON.parse(text);
};

/** JSON text as a value, undefined where the text is none: for what is only looked at. */
export const jsonIn = (text: string): unknown => {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
};

/** Where the text that begins with the quote at `from` ends. */
const endOfText = (text: string, from: number): number => {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === '"') return at;
  }
  return text.length;
};

/** By the text alone, since the parser itself may not survive what this looks for. */
const isDeep = (text: string): boolean => {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === '"') at = endOfText(text, at);
    else if (sign === "[" || sign === "{") depth += 1;
    else if (sign === "]" || sign === "}") depth -= 1;
    if (depth > mostDepth) return true;
  }
  return false;
};

const withoutPrototype = (key: string, value: unknown): unknown =>
  key === "__proto__" ? undefined : value;
