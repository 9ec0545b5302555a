import { AsyncLocalStorage } from "node:async_hooks";
import { basicCredentials } from "../definition/fields.js";
import { abbreviated, cleaned } from "../kernel/text.js";
import type { Settings } from "./setting-table.js";

const hidden = "[secret]";

/**
 * Shorter secrets are not searched for: many words contain them, and hiding those would reveal the
 * secret.
 */
const shortestSecret = 6;

/** This many consecutive characters of a longer secret are hidden wherever they occur. */
const pieceLength = 8;

/** A shorter beginning of a secret at a cut is not worth hiding: it reveals nothing. */
const shortestCut = 4;

const longestText = 300;

/** Only this much of a foreign text is searched; most of it is not shown anyway. */
const longestForeign = 8_000;

/**
 * Only the beginning of a longer one is searched for, which is what a service quotes. It is no
 * password, but a text without a field, which counts as secret because it may contain one.
 */
const longestSecret = 16_384;

/**
 * With more secret characters than this, no foreign text is shown: searching would take too long.
 */
const mostSecretCharacters = 262_144;

/** One decoded character of a text, and its place in the original text. */
interface Sign {
  readonly unit: string;
  readonly from: number;
  readonly to: number;
}

type Range = readonly [from: number, to: number];

const entities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

/**
 * The ways in which JSON, programming languages, URLs, mails, and pages encode a character. A
 * backslash alone does not count, see {@link folded}.
 */
const escapes =
  /(?:\\u|%u)([0-9a-f]{4})|\\u\{0{0,4}([0-9a-f]{1,4})\}|\\[bfnrt]|(?:%|=|\\x)([0-9a-f]{2})|&(?:#0{0,8}(\d{1,5})|#x0{0,8}([0-9a-f]{1,4})|(amp|lt|gt|quot|apos));?/gi;

/** An escape or a character that is cut off at the end of a text: half of one is read as U+FFFD. */
const partOfEscape =
  /(?:\uFFFD{1,3}|[\uD800-\uDBFF]|%[0-9a-f]?|%u[0-9a-f]{0,3}|=[0-9a-f]?|(?<!\\)\\+(?:u[0-9a-f]{0,3}|u\{[0-9a-f]{0,4}|x[0-9a-f]?)?|&#?\w{0,13})$/i;

const base64Run = /[A-Za-z0-9+/_-]{6,}={0,2}/g;

/** Bytes in hexadecimal digits, consecutive or with a separator between them, as in dumps. */
const hexRun = /[0-9a-f]{2}(?:[ :,-]?(?:0x)?[0-9a-f]{2}){4,}/gi;

const hexByte = /(?:0x)?([0-9a-f]{2})/gi;

/** Characters that may close a quotation, then a sign that the text was cut, or its end. */
const cut = /[\s.,;:"'”’)\]}>\\]{0,10}(?:\.{3}|…|\*{2}|$)/gu;

const textOf = (signs: readonly Sign[]): string => signs.map(({ unit }) => unit).join("");

/** Several characters joined to one. */
const joined = (unit: string, signs: readonly Sign[]): Sign[] => {
  const [first, last] = [signs[0], signs.at(-1)];
  return first && last
    ? [...unit].map((one) => ({ unit: one, from: first.from, to: last.to }))
    : [];
};

/** The same text with its escapes decoded. */
const unescaped = (signs: readonly Sign[]): readonly Sign[] => {
  const result: Sign[] = [];
  let done = 0;
  for (const match of textOf(signs).matchAll(escapes)) {
    const [all, json, braced, byte, decimal, hex, word] = match;
    const digits = json ?? braced ?? byte ?? hex;
    const code = digits ? Number.parseInt(digits, 16) : Number(decimal ?? 32);
    const unit = word ? (entities[word.toLowerCase()] ?? "") : String.fromCharCode(code);
    result.push(...signs.slice(done, match.index));
    done = match.index + all.length;
    result.push(...joined(unit, signs.slice(match.index, done)));
  }
  return done === 0 ? signs : [...result, ...signs.slice(done)];
};

/** The decoded content of base64 anywhere in a text, at every alignment. */
const decoded = (signs: readonly Sign[]): (readonly Sign[])[] =>
  [...textOf(signs).matchAll(base64Run)].flatMap(({ 0: run, index }) =>
    [0, 1, 2, 3].map((skipped) => {
      const bytes = Buffer.from(run.slice(skipped), "base64");
      const at = (sextet: number) => signs[index + skipped + sextet];
      return [...bytes].flatMap((byte, place) => {
        const isLast = place === bytes.length - 1;
        const end = isLast ? signs[index + run.length - 1] : at(Math.floor((place * 8 + 7) / 6));
        const start = at(Math.floor((place * 8) / 6));
        return start && end
          ? [{ unit: String.fromCharCode(byte), from: start.from, to: end.to }]
          : [];
      });
    }),
  );

/** The decoded content of the hexadecimal digits of a text, at both alignments. */
const unhexed = (signs: readonly Sign[]): (readonly Sign[])[] =>
  [...textOf(signs).matchAll(hexRun)].flatMap(({ 0: run, index }) =>
    [0, 1].map((skipped) =>
      [...run.slice(skipped).matchAll(hexByte)].flatMap(({ 0: all, 1: digits = "", index: at }) =>
        joined(
          String.fromCharCode(Number.parseInt(digits, 16)),
          signs.slice(index + skipped + at, index + skipped + at + all.length),
        ),
      ),
    ),
  );

/** A text in every way in which somebody may read it. */
const readings = (text: string): (readonly Sign[])[] => {
  const plain = Array.from({ length: text.length }, (_, at) => ({
    unit: text.charAt(at),
    from: at,
    to: at + 1,
  }));
  const all: (readonly Sign[])[] = [plain];
  // Three times: a URL may contain JSON that contains a URL.
  for (let last: readonly Sign[] = plain; all.length < 4; all.push(last)) {
    const deeper = unescaped(last);
    if (deeper === last) break;
    last = deeper;
  }
  const inside = all.flatMap((signs) => [...decoded(signs), ...unhexed(signs)]);
  return [...all, ...inside, ...inside.map(unescaped)];
};

const foldedUnits = new Map<string, string>();

/**
 * Removes what services change in a text: case, accents and how they are composed, spaces, control
 * and format characters, `+` (a space in a form) and the backslashes of escapes.
 */
const folded = (unit: string): string => {
  const known = foldedUnits.get(unit);
  if (known !== undefined) return known;
  const plain = unit.normalize("NFKD").toLowerCase();
  const made = plain.replace(/[\p{M}\p{Cc}\p{Cf}\p{Z}+\\]/gu, "");
  if (foldedUnits.size < 10_000) foldedUnits.set(unit, made);
  return made;
};

const foldedText = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => folded(text.charAt(at))).join("");

/** The search patterns for some secrets. */
interface Wanted {
  readonly pieces: ReadonlySet<string>;
  /** Those shorter than a piece. */
  readonly short: readonly string[];
  readonly beginnings: ReadonlySet<string>;
  /** Whether there is more than can be searched for. */
  readonly isTooMuch: boolean;
}

const wantedIn = (secrets: readonly string[]): Wanted => {
  const given = new Set(
    secrets
      .filter(({ length }) => length >= shortestSecret)
      .map((secret) => secret.slice(0, longestSecret)),
  );
  const length = [...given].reduce((sum, secret) => sum + secret.length, 0);
  const isTooMuch = length > mostSecretCharacters;
  const pieces = new Set<string>();
  const beginnings = new Set<string>();
  const short = new Set<string>();
  for (const secret of isTooMuch ? [] : given) {
    // An escaped byte is a byte of UTF-8, or of Latin-1, in which it is the character itself.
    const bytes = Buffer.from(secret).toString("latin1");
    for (const text of new Set([secret, bytes].map(foldedText))) {
      for (let end = shortestCut; end < pieceLength; end++) beginnings.add(text.slice(0, end));
      if (text.length < pieceLength && text !== "") short.add(text);
      for (let at = 0; at + pieceLength <= text.length; at++)
        pieces.add(text.slice(at, at + pieceLength));
    }
  }
  return { pieces, short: [...short], beginnings, isTooMuch };
};

const known = new WeakMap<readonly string[], Wanted>();

const wantedFor = (secrets: readonly string[]): Wanted => {
  const wanted = known.get(secrets) ?? wantedIn(secrets);
  known.set(secrets, wanted);
  return wanted;
};

/** The characters that remain after folding a text. */
const foldedSigns = (signs: readonly Sign[]): readonly Sign[] =>
  signs.flatMap(({ unit, ...place }) => [...folded(unit)].map((one) => ({ unit: one, ...place })));

/** The range between two characters. */
const rangeOf = (signs: readonly Sign[], start: number, length: number): Range[] => {
  const [first, last] = [signs[start], signs[start + length - 1]];
  return first && last ? [[first.from, last.to]] : [];
};

const piecesIn = (signs: readonly Sign[], { pieces, short }: Wanted): Range[] => {
  const text = textOf(signs);
  const found: Range[] = [];
  for (let at = 0; at + pieceLength <= text.length; at++) {
    if (pieces.has(text.slice(at, at + pieceLength)))
      found.push(...rangeOf(signs, at, pieceLength));
  }
  for (const secret of short) {
    for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + 1))
      found.push(...rangeOf(signs, at, secret.length));
  }
  return found;
};

/**
 * A text that is cut, even in mid-sentence before dots, may contain the beginning of a secret
 * there.
 */
const beginningsIn = (signs: readonly Sign[], { beginnings }: Wanted): Range[] => {
  const text = textOf(signs);
  return [...text.matchAll(cut)].flatMap(({ 0: all, index }) =>
    Array.from({ length: all.length + 1 }, (_, closing) => index + closing).flatMap((end) => {
      const shown = text.slice(0, end);
      const rest = partOfEscape.exec(shown.slice(-16))?.[0].length ?? 0;
      return [end, end - rest].flatMap((last) => {
        const before = foldedSigns(signs.slice(Math.max(0, last - 4 * pieceLength), last));
        const lengths = [7, 6, 5, shortestCut].filter((length) =>
          beginnings.has(textOf(before.slice(-length))),
        );
        return lengths.flatMap((length) => rangeOf(before, before.length - length, length));
      });
    }),
  );
};

/**
 * Replaces secrets and parts of secrets in untrusted text, even if they are escaped (JSON, URLs,
 * HTML), encoded in base64 or hexadecimal, in a different case, or truncated. Drops text after the
 * first 8,000 characters. Use it only for untrusted text: replacing one of this package's own words
 * that happens to match a secret would reveal the secret.
 *
 * @param secrets in plain form; those shorter than 6 characters are not searched for
 */
export const redact = (text: string, secrets: readonly string[]): string => {
  const wanted = wantedFor(secrets);
  if (wanted.isTooMuch) return hidden;
  const looked = text.slice(0, longestForeign);
  const ranges = readings(looked)
    .flatMap((signs) => [...piecesIn(foldedSigns(signs), wanted), ...beginningsIn(signs, wanted)])
    .sort(([one], [other]) => one - other);
  let shown = "";
  let done = 0;
  for (const [from, to] of ranges) {
    if (from > done || done === 0) shown += looked.slice(done, from) + hidden;
    done = Math.max(done, to);
  }
  return shown + looked.slice(done);
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

const ofRunningCall = new AsyncLocalStorage<readonly string[]>();

/**
 * Runs an engine call and ensures that messages about its service calls show none of the `secrets`.
 */
export const keepingSecret = <T>(secrets: readonly string[], call: () => Promise<T>): Promise<T> =>
  ofRunningCall.run(secrets, call);

/** The secrets of the current engine call. */
export const secretsOfRunningCall = (): readonly string[] => ofRunningCall.getStore() ?? [];
