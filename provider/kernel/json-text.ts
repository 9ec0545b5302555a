/** No object of the service comes near; much deeper ones would overflow whoever walks through them. */
const mostDepth = 128;

/**
 * JSON text as a value, after a byte order mark as well (RFC 8259 §8.1), without any `__proto__` member: such a member is harmless where it stands
 * but changes the prototype of whatever it is merged into. Throws a SyntaxError, also where the
 * text is nested deeper than 128 levels.
 */
export const parseJson = (given: string): unknown => {
  const text = given.startsWith("\ufeff") ? given.slice(1) : given;
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
