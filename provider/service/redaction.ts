import { AsyncLocalStorage } from "node:async_hooks";
import { basicCredentials } from "../definition/fields.js";
import { abbreviated, cleaned } from "../kernel/text.js";
import type { Settings } from "./settings.js";

const hidden = "[secret]";

/**
 * Shorter secrets are not searched for: many words contain them, and hiding those would reveal the
 * secret.
 */
const shortestSecret = 6;

/**
 * This many consecutive characters of a longer secret are hidden wherever they occur: a service may
 * quote a part, such as the token of `Bearer <token>`.
 */
const pieceLength = 8;

const longestText = 300;

/** Only this much of a foreign text is searched; most of it is not shown anyway. */
const longestForeign = 8_000;

/** With more pieces to search for than this, no foreign text is shown: it would take too long. */
const mostPieces = 500_000;

/** How a message may spell a secret: plain, in JSON, in a URL, or in a form. */
const spellings = (secret: string): readonly string[] => {
  const json = JSON.stringify(secret).slice(1, -1);
  // Other languages than JavaScript escape more in JSON, and write %xx in lower case.
  const ascii = json.replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  const url = encodeURIComponent(secret.toWellFormed());
  const form = new URLSearchParams([["", secret]]).toString().slice(1);
  const escaped = [json, ascii].flatMap((text) => [text, text.replaceAll("/", "\\/")]);
  const encoded = [url, form].flatMap((text) => [
    text,
    text.replace(/%../g, (code) => code.toLowerCase()),
  ]);
  return [...new Set([secret, ...escaped, ...encoded])];
};

const knownPieces = new WeakMap<readonly string[], ReadonlySet<string>>();

/** What to search for, none of it longer than a piece. */
const findPieces = (secrets: readonly string[]): ReadonlySet<string> => {
  const known = knownPieces.get(secrets);
  if (known) return known;
  const pieces = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < shortestSecret || pieces.size > mostPieces) continue;
    for (const spelling of spellings(secret.slice(0, longestForeign))) {
      const last = Math.max(0, spelling.length - pieceLength);
      for (let at = 0; at <= last; at++) pieces.add(spelling.slice(at, at + pieceLength));
    }
  }
  knownPieces.set(secrets, pieces);
  return pieces;
};

/** Marks the characters of a text that belong to one of the pieces; returns whether there are any. */
const markPieces = (pieces: ReadonlySet<string>, text: string, marks: boolean[]): boolean => {
  let isFound = false;
  for (let length = shortestSecret; length <= pieceLength; length++) {
    for (let from = 0; from + length <= text.length; from++)
      if (pieces.has(text.slice(from, from + length))) {
        marks.fill(true, from, from + length);
        isFound = true;
      }
  }
  return isFound;
};

/** Whether the content of base64 contains one of the pieces, at any alignment. */
const encodesPiece = (pieces: ReadonlySet<string>, run: string): boolean =>
  [0, 1, 2, 3].some((skipped) =>
    markPieces(pieces, Buffer.from(run.slice(skipped), "base64").toString(), []),
  );

/**
 * Replaces secrets in untrusted text, plain or as JSON, URLs, forms, and base64 spell them, and parts
 * of 8 characters or more. Drops text after the first 8,000 characters. Use it only for untrusted
 * text: replacing one of this package's own words that happens to match a secret would reveal the
 * secret.
 *
 * @param secrets in plain form; those shorter than 6 characters are not searched for
 */
export const redact = (text: string, secrets: readonly string[]): string => {
  const pieces = findPieces(secrets);
  if (pieces.size > mostPieces) return hidden;
  const looked = text.slice(0, longestForeign);
  const marks: boolean[] = Array.from({ length: looked.length }, () => false);
  markPieces(pieces, looked, marks);
  for (const { 0: run, index } of looked.matchAll(/[A-Za-z0-9+/_-]{8,}={0,2}/g))
    if (encodesPiece(pieces, run)) marks.fill(true, index, index + run.length);
  let shown = "";
  for (let at = 0; at < looked.length; at++) {
    if (!marks[at]) shown += looked[at];
    else if (!marks[at - 1]) shown += hidden;
  }
  return shown;
};

/**
 * Prepares text from the service for use in a message: removes secrets and control characters, and
 * limits the text to 300 characters.
 */
export const shownText = (text: string, secrets: readonly string[]): string =>
  abbreviated(cleaned(redact(text, secrets)).trim(), longestText);

/**
 * Returns the message of an error from outside this package, in a form that is safe to show. The
 * JSON parser quotes parts of its input, and a secret in such a part might not be recognizable, so
 * the parser's message is replaced with fixed text.
 */
export const foreignMessage = (error: unknown, secrets: readonly string[]): string => {
  if (error instanceof SyntaxError && error.message.includes("JSON"))
    return "text that should be JSON cannot be parsed";
  return redact(
    error instanceof Error ? error.message : String(error ?? "unknown failure"),
    secrets,
  );
};

/**
 * Returns an error from outside this package unchanged if its message may be shown, or otherwise
 * an error without secrets.
 */
export const foreignError = (error: unknown, secrets: readonly string[]): unknown => {
  const message = foreignMessage(error, secrets);
  return error instanceof Error && error.message === message ? error : new Error(message);
};

/** The client's credentials, which must not be shown even if a response contains them. */
export const clientSecrets = ({ clientId, clientSecret }: Settings): readonly string[] => [
  clientSecret,
  ...basicCredentials(clientId, clientSecret),
];

/** Collects the secrets of an engine call. */
type Secrets = () => readonly string[];

const ofRunningCall = new AsyncLocalStorage<Secrets>();

/**
 * Runs an engine call and ensures that messages about its service calls show none of the `secrets`.
 */
export const keepingSecret = <T>(secrets: Secrets, call: () => Promise<T>): Promise<T> =>
  ofRunningCall.run(secrets, call);

export const secretsOfRunningCall = (): readonly string[] => ofRunningCall.getStore()?.() ?? [];
