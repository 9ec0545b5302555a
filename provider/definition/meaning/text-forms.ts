import { isObject, sameJson } from "../../kernel/json.js";
import type { ReferenceField, TextField } from "../define.js";

/** Text without what only its writer chose: composed characters (NFC), line feeds alone. */
export const plainText = (text: string): string =>
  /^[\t\n -~]*$/.test(text) ? text : text.normalize("NFC").replaceAll(/\r\n?/g, "\n");

const samePlain = (a: string, b: string): boolean => plainText(a) === plainText(b);

/** Percent-encoding in one form (RFC 3986 §6.2.2): unreserved characters bare, capital hex digits. */
const percentForm = (part: string): string =>
  part
    .replaceAll(/[^\w.~:/?#[\]@!$&'()*+,;=%-]/gu, encodeURIComponent)
    .replaceAll(/%[0-9a-f]{2}/gi, (octet) => {
      const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16));
      return /[\w.~-]/.test(character) ? character : octet.toUpperCase();
    });

const isSlashed = (bare: string, other: string): boolean =>
  !bare.endsWith("/") && `${bare}/` === other;

const samePath = (a: string, b: string): boolean => a === b || isSlashed(a, b) || isSlashed(b, a);

/** Addresses that lead to the same place: the form of a URL parser, one trailing slash apart. */
const sameUrl = (a: string, b: string): boolean => {
  const [left, right] = [plainText(a), plainText(b)];
  if (!URL.canParse(left) || !URL.canParse(right)) return left === right;
  const [one, other] = [new URL(left), new URL(right)];
  const parts = ["protocol", "username", "password", "host", "search", "hash"] as const;
  return (
    samePath(percentForm(one.pathname), percentForm(other.pathname)) &&
    parts.every((part) => percentForm(one[part]) === percentForm(other[part]))
  );
};

const sameEmail = (a: string, b: string): boolean =>
  plainText(a).toLowerCase() === plainText(b).toLowerCase();

/** The bytes of base64 text in either alphabet, padded or not; undefined where it is none. */
const bytesOf = (text: string): Buffer | undefined => {
  const digits = text.replaceAll(/\s/g, "").replace(/={1,2}$/, "");
  const isBase64 = /^[A-Za-z0-9+/_-]*$/.test(digits) && digits.length % 4 !== 1;
  return isBase64 ? Buffer.from(digits, "base64") : undefined;
};

const sameBytes = (a: string, b: string): boolean => {
  const [left, right] = [bytesOf(a), bytesOf(b)];
  return left && right ? left.equals(right) : a === b;
};

const sameForm = { url: sameUrl, email: sameEmail, base64: sameBytes } as const;

/** A number that is too long to be kept exactly, by its digits, so that others differ from it. */
const exact = (_: string, value: unknown, context?: { readonly source?: string }): unknown => {
  const source = context?.source;
  return typeof value === "number" && source && source.length > 15 ? { number: source } : value;
};

/** What a text says: its content where it is JSON, else the text itself. */
const contentOf = (value: unknown): unknown => {
  const text = isObject(value) || Array.isArray(value) ? JSON.stringify(value) : value;
  try {
    return typeof text === "string" ? { content: JSON.parse(text, exact) } : { text };
  } catch {
    return { text };
  }
};

/** Whether two JSON texts, or a JSON text and the value itself, have the same content. */
export const sameContent = (a: unknown, b: unknown): boolean =>
  a === b || sameJson(contentOf(a), contentOf(b));

const jsonNumber = /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i;

/** The number that a value is, or that its text writes as JSON would; undefined where it is none. */
export const numberOf = (value: unknown): number | undefined =>
  typeof value === "number"
    ? value
    : typeof value === "string" && jsonNumber.test(value)
      ? Number(value)
      : undefined;

/** Whether two scalars are one, whichever of them JSON writes without quotation marks. */
export const sameScalar = (a: unknown, b: unknown): boolean => {
  if (a === b) return true;
  if (typeof a === "string" && typeof b === "string") return samePlain(a, b);
  if (typeof a === "boolean") return String(a) === b;
  if (typeof b === "boolean") return a === String(b);
  const number = numberOf(a);
  return number !== undefined && number === numberOf(b);
};

/** Without the blanks before line ends, and before the end of the text where that is asked for. */
const withoutBlanks = (text: string, atEnd: boolean): string => {
  const parts = text.match(/[^\S\r\n]+|[\r\n]+|\S+/g) ?? [];
  const isLast = (next: string | undefined) => (next === undefined ? atEnd : /^[\r\n]/.test(next));
  return parts.filter((part, at) => !/^[^\S\r\n]/.test(part) || !isLast(parts[at + 1])).join("");
};

/** A text as services tidy it: without blanks at its ends, and at the ends of its lines. */
const tidyForms = (text: string): readonly string[] => {
  const plain = plainText(text);
  // Beside a lone CR it matters whether line ends are looked at before or after they are made one;
  // behind the last line there may have been an owner mark.
  const tidied = [plain, text].flatMap((lines) =>
    [true, false].map((atEnd) => plainText(withoutBlanks(lines, atEnd))),
  );
  return [plain, ...tidied].flatMap((form) => [form, form.trim(), form.trimEnd()]);
};

/** Most texts have none to tidy, and a name is compared with those of all other objects. */
const hasOuterBlanks = (text: string): boolean => /^\s|\s$/m.test(text);

/** Whether a service gives a text back without blanks at its ends. What a person adds is not that. */
export const isTidied = (live: unknown, prior: unknown): boolean => {
  if (typeof live !== "string" || typeof prior !== "string" || live === "") return false;
  return hasOuterBlanks(prior)
    ? tidyForms(prior).includes(plainText(live))
    : samePlain(live, prior);
};

/** Whether two texts of a field, or two ids, mean the same. */
export const sameText = (field: TextField | ReferenceField, a: unknown, b: unknown): boolean => {
  if (field.type === "reference") return sameScalar(a, b);
  if (field.json) return sameContent(a, b);
  return field.format && typeof a === "string" && typeof b === "string"
    ? sameForm[field.format](a, b)
    : sameScalar(a, b);
};
