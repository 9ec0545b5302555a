import { isObject } from "./json.js";

/** No object of the service comes near; much deeper ones would overflow whoever walks through them. */
const mostDepth = 128;

/**
 * JSON text as a value, after a byte order mark as well (RFC 8259 §8.1), without any `__proto__` member: such a member is harmless where it stands
 * but changes the prototype of whatever it is merged into, and without halves of characters, which JSON can
 * spell (`"\\ud83d"`) and UTF-8 cannot hold: `\ufffd` stands in their place, in keys as well. Throws a SyntaxError, also where the
 * text is nested deeper than 128 levels.
 */
export const parseJson = (given: string): unknown => {
  const text = given.startsWith("\ufeff") ? given.slice(1) : given;
  if (isDeep(text)) throw new SyntaxError(`more than ${mostDepth} levels`);
  // The cheap look first: a reviver makes parsing several times slower. `\u` may spell the name too.
  const suspicious = text.includes("__proto__") || text.includes("\\u");
  if (!suspicious) return JSON.parse(text);
  const value: unknown = JSON.parse(text, withoutPrototype);
  return /\\u[dD][89a-fA-F]/.test(text) ? wellFormed(value) : value;
};

const wellFormed = (value: unknown): unknown => {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([key, member]) => [
    key.toWellFormed(),
    wellFormed(member),
  ]);
  return Object.fromEntries(members);
};

/** Whether an object is one of plain members, of whichever realm, and no instance of a class. */
const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return !prototype || Object.getPrototypeOf(prototype) === null;
};

/**
 * Where a value holds texts, or keys, that such a test picks out: paths as a person would write them,
 * such as `roles[0].name`. Instances of classes are left alone.
 */
export const pathsOfTexts = (
  value: unknown,
  isMeant: (text: string) => boolean,
  path = "",
): readonly string[] => {
  if (typeof value === "string") return isMeant(value) ? [path] : [];
  if (Array.isArray(value))
    return value.flatMap((item, place) => pathsOfTexts(item, isMeant, `${path}[${place}]`));
  if (!isObject(value) || !isPlain(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const inner = path ? `${path}.${key.toWellFormed()}` : key.toWellFormed();
    return isMeant(key) ? [inner] : pathsOfTexts(member, isMeant, inner);
  });
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
