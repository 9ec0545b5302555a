import { abbreviated, cleaned } from "../../kernel/quoted.js";
import { inBase64 } from "./credential-texts.js";

const hidden = "[secret]";

/** Stands for a secret while further ones are looked for. */
const placeholder = "\uffff";

/** Shorter secrets are not looked for: many words hold them, and what is hidden would tell them. */
const shortestSecret = 6;

/** A shorter beginning of a secret at a cut is not worth hiding: it says nothing. */
const shortestCut = 4;
const longestText = 300;

/** So much of a foreign text is looked at; the most of it is not shown anyway. */
const longestForeign = 8_000;

/** As it is, and as a service tidies what it is given. */
const tidied = (secret: string): ReadonlySet<string> =>
  new Set([secret, secret.trim(), cleaned(secret).trim(), secret.normalize("NFC")]);

const inJson = (text: string): string[] => {
  const json = JSON.stringify(text).slice(1, -1);
  const unit = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const twice = JSON.stringify(json).slice(1, -1);
  return [json, twice, json.replace(/[^ -~]/g, unit), json.replaceAll("/", "\\/")];
};

const inAddress = (text: string): string[] => {
  const plain = encodeURIComponent(text.toWellFormed());
  const strict = plain.replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
  const form = new URLSearchParams([["", text]]).toString().slice(1);
  const lower = (one: string) => one.replace(/%\w\w/g, (code) => code.toLowerCase());
  const upper = (one: string) => one.replace(/%\w\w/g, (code) => code.toUpperCase());
  return [plain, strict, form].flatMap((one) => [upper(one), lower(one)]);
};

const inPage = (text: string): string =>
  text.replace(/[&<>"']/g, (sign) => `&${signs[sign] ?? sign};`);

const signs: Readonly<Record<string, string>> = {
  "&": "amp",
  "<": "lt",
  ">": "gt",
  '"': "quot",
  "'": "#39",
};

/** Every form in which a secret may come back. */
const formsOf = (secret: string): string[] =>
  [...tidied(secret)].flatMap((text) => [
    text,
    ...inJson(text),
    ...inJson(text).flatMap(inAddress),
    ...inAddress(text),
    inPage(text),
    ...inBase64(text),
  ]);

const known = new WeakMap<readonly string[], readonly string[]>();

/** What to look for; the longest first, so that a secret inside another one leaves no rest of it. */
const wantedFor = (secrets: readonly string[]): readonly string[] => {
  const kept = known.get(secrets);
  if (kept) return kept;
  const distinct = new Set(secrets.filter(({ length }) => length >= shortestSecret));
  const wanted = [...new Set([...distinct].flatMap(formsOf))]
    .filter(({ length }) => length >= shortestSecret)
    .sort((one, other) => other.length - one.length);
  known.set(secrets, wanted);
  return wanted;
};

/** How much of a form's beginning stands at the end of a text, in characters. */
const beginningAt = (end: string, form: string): number => {
  const start = form.slice(0, shortestCut);
  const from = Math.max(0, end.length - form.length + 1);
  for (let at = end.indexOf(start, from); at >= 0; at = end.indexOf(start, at + 1)) {
    if (form.startsWith(end.slice(at))) return end.length - at;
  }
  return 0;
};

/** Where the text may have been cut: at its end, or before signs that close a quotation. */
const endsOf = (text: string): string[] => {
  const closing = /[\s.,;:"'”’)\]}>\\]{0,10}$/u.exec(text)?.[0] ?? "";
  return Array.from({ length: closing.length + 1 }, (_, signs) =>
    text.slice(0, text.length - signs),
  );
};

const withoutBeginning = (text: string, wanted: readonly string[]): string => {
  let best = { length: 0, end: text };
  for (const end of endsOf(text)) {
    const length = wanted.reduce((most, form) => Math.max(most, beginningAt(end, form)), 0);
    if (length > best.length) best = { length, end };
  }
  const { length, end } = best;
  if (length === 0) return text;
  return end.slice(0, -length) + placeholder + text.slice(end.length);
};

/** A text that is cut, also in mid-sentence before dots, may hold the beginning of a secret there. */
const withoutCuts = (text: string, wanted: readonly string[]): string =>
  text
    .split(/(\.{3,}|…)/u)
    .map((part, place) => (place % 2 === 0 ? withoutBeginning(part, wanted) : part))
    .join("");

/**
 * Replaces every secret in a foreign text, in every form in which it may come back, whole or cut off.
 * Only for text that is not our own: a word of ours that happens to be a secret would give it away.
 *
 * @param secrets as they were given, and `user:password` for credentials that go together; those of
 * less than 6 characters are not looked for
 */
export const redact = (text: string, secrets: readonly string[]): string => {
  const wanted = wantedFor(secrets);
  const whole = wanted.reduce((rest, form) => rest.replaceAll(form, placeholder), text);
  return withoutCuts(whole, wanted).replaceAll(placeholder, hidden);
};

/** Text of the service as a message may show it: no secrets, no control characters, at most 300 characters. */
export const shownText = (text: string, secrets: readonly string[]): string => {
  const clean = cleaned(redact(text.slice(0, longestForeign), secrets)).trim();
  return abbreviated(clean, longestText);
};

/**
 * The message of an error that is none of ours, as it may be shown. The parser of JSON quotes parts
 * of a text in which nobody can recognise a secret, so its message is left out.
 */
export const foreignMessage = (error: unknown, secrets: readonly string[]): string => {
  if (error instanceof SyntaxError && error.message.includes("JSON"))
    return "a text that should be JSON cannot be read";
  return redact(
    error instanceof Error ? error.message : String(error ?? "unknown failure"),
    secrets,
  );
};

/** An error that is none of ours: the same where its message may be shown, else one without secrets. */
export const foreignError = (error: unknown, secrets: readonly string[]): unknown => {
  const message = foreignMessage(error, secrets);
  return error instanceof Error && error.message === message ? error : new Error(message);
};
