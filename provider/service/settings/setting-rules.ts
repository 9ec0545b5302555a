import { nearestHint } from "../../kernel/nearest-word.js";
import { quoted } from "../../kernel/quoted.js";
import { plans } from "./plans.js";

/**
 * What a rule makes of a text: the value, or the rule that the text breaks. The text itself is shown
 * only where one of some words is wanted, which is never a secret.
 */
export type Parsed<T> = { readonly value: T } | { readonly rule: string };

const value = <T>(parsed: T): Parsed<T> => ({ value: parsed });
const broken = (rule: string): Parsed<never> => ({ rule });

/** Version of the service that this package talks to (specification §9). */
const version = "v3";

/** Whether a host name means this machine: `localhost`, 127.0.0.0/8 or ::1. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);

const parseUrl = (text: string): URL | undefined =>
  URL.canParse(text) ? new URL(text) : undefined;

const addressRule = (url: URL | undefined): string | undefined => {
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:")) {
    return "must be an address that starts with https://";
  }
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    return "must start with https://; http:// is allowed for this machine only (localhost, 127.0.0.1, [::1])";
  }
  if (url.username !== "" || url.password !== "") return "must hold no user name or password";
  if (url.hash !== "") return 'must hold no "#" part';
  return undefined;
};

const versionRule = (segment: string): string | undefined => {
  if (segment === version) return undefined;
  if (/^v\d{1,3}$/i.test(segment)) {
    return `names version ${segment} of the service; this package talks to ${version}, so the address must end with /${version}`;
  }
  return `must end with the version segment /${version}, which is missing`;
};

/** The base address without a trailing slash. */
export const baseAddress = (text: string): Parsed<string> => {
  const url = parseUrl(text);
  const rule = addressRule(url);
  if (!url || rule) return broken(rule ?? "must be an address");
  if (url.search !== "" || text.includes("?")) return broken('must hold no "?" part');
  const path = url.pathname.replace(/\/$/, "");
  const wrong = versionRule(path.slice(path.lastIndexOf("/") + 1));
  if (wrong) return broken(wrong);
  return /\/\/|%/.test(path) ? broken("must have a plain path") : value(url.origin + path);
};

export const tokenAddress = (text: string): Parsed<string> => {
  const url = parseUrl(text);
  const rule = addressRule(url);
  return !url || rule ? broken(rule ?? "must be an address") : value(url.href);
};

/** Any text without control characters. */
export const printableText = (text: string): Parsed<string> =>
  /\p{Cc}/u.test(text)
    ? broken("must hold no control characters, such as a line end behind it")
    : value(text);

/** Scopes between single blanks. */
export const scopeList = (text: string): Parsed<string> =>
  printableText(text.split(/\s+/).filter(Boolean).join(" "));

const wordRule = (words: readonly string[], text: string): string => {
  return `must be one of: ${words.join(", ")}, not ${quoted(text)}${nearestHint(text, words)}`;
};

/** One of some words, in any case. Not for secrets: the rule shows what was given. */
export const oneOf =
  <T extends string>(words: readonly T[]) =>
  (text: string): Parsed<T> => {
    const found = words.find((word) => word === text.toLowerCase());
    return found ? value(found) : broken(wordRule(words, text));
  };

export const plan = oneOf(plans);

export const wholeNumber = (text: string): Parsed<number> =>
  /^[1-9]\d{0,8}$/.test(text)
    ? value(Number(text))
    : broken("must be a whole number of at least 1");

export const fraction = (text: string): Parsed<number> => {
  const parsed = /^(?:\d+(?:\.\d+)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  return parsed > 0 && parsed <= 1 ? value(parsed) : broken("must be above 0 and at most 1");
};

export const redisAddress = (text: string): Parsed<string> =>
  /^rediss?:\/\/./.test(text) && URL.canParse(text)
    ? value(text)
    : broken("must be an address that starts with redis:// or rediss://");

export const lowerCaseWord = (text: string): Parsed<string> =>
  /^[a-z][a-z0-9]*$/.test(text)
    ? value(text)
    : broken("must be lower-case letters and digits, starting with a letter");
