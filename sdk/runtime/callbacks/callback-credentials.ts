import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { ConversationError } from "../../../provider/kernel/errors.js";

/** Checks a Bearer token; true lets the call pass. A failure lets nothing pass. */
export type BearerCheck = (token: string) => boolean | Promise<boolean>;

/** What the service shows by Basic authentication. */
export interface BasicCredentials {
  /** Without a colon. */
  readonly username: string;
  /** Any text but the empty one. */
  readonly password: string;
}

/**
 * What a call of the service must show: as its authentication was registered (specification §5.2).
 * Where several are given any of them will do: the old one and the new one while they are rotated.
 */
export type CallbackCredentials =
  | { readonly basic: BasicCredentials | readonly BasicCredentials[] }
  | { readonly bearer: string | readonly string[] | BearerCheck };

/** Checks the value of an Authorization header. */
export interface CredentialCheck {
  passes(header: string | undefined): Promise<boolean>;
  /** For the `WWW-Authenticate` header of a 401. */
  readonly challenge: string;
}

/** Longer ones are refused unread. */
const longestHeader = 16 * 1024;

/** Compares in a time that tells nothing of either text, not even the length. */
const sameText = (one: string, other: string, key: Uint8Array): boolean => {
  const digest = (text: string) => createHmac("sha256", key).update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
};

const invalid = (rule: string): ConversationError =>
  new ConversationError(
    "INPUT_INVALID",
    `Could not make the callback handler: ${rule}. Without it anybody could send messages.`,
  );

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

/** @param accepts checks what stands behind the scheme; an empty text where the scheme is another one */
const checkOf = (
  scheme: "Basic" | "Bearer",
  parameters: string,
  accepts: (credentials: string) => boolean | Promise<boolean>,
): CredentialCheck => ({
  challenge: `${scheme} realm="conversation"${parameters}`,
  passes: async (header = "") => {
    const [, given = "", credentials = ""] =
      (header.length <= longestHeader && /^([A-Za-z]+) +([^\s]+)\s*$/.exec(header)) || [];
    const isScheme = given.toLowerCase() === scheme.toLowerCase();
    // A promise of anything but true, as JavaScript allows it, lets nothing pass.
    return (await accepts(isScheme ? credentials : "")) === true && isScheme;
  },
});

const isList = <T extends object>(value: T | readonly T[]): value is readonly T[] =>
  Array.isArray(value);

const isOneOf = (text: string, wanted: readonly string[], key: Uint8Array): boolean =>
  wanted.filter((each) => sameText(text, each, key)).length > 0;

const basicText = (credentials: BasicCredentials | undefined): string => {
  const { username, password } = credentials ?? {};
  if (isText(username) && isText(password) && !username.includes(":"))
    return `${username}:${password}`;
  throw invalid('authenticate.basic needs a username without ":" and a password');
};

/** What no line of a log may show. */
export const secretsOf = (credentials: CallbackCredentials): readonly string[] => {
  if ("basic" in credentials)
    return [credentials.basic].flat().flatMap(({ username, password }) => {
      const pair = `${username}:${password}`;
      return [password, pair, Buffer.from(pair).toString("base64")];
    });
  const { bearer } = credentials;
  return typeof bearer === "function" ? [] : [bearer].flat();
};

/** @throws ConversationError `INPUT_INVALID` where there are no credentials to compare with */
export const credentialCheck = (credentials: CallbackCredentials): CredentialCheck => {
  if (typeof credentials !== "object" || credentials === null) {
    throw invalid("authenticate is missing");
  }
  const key = randomBytes(32);
  if ("basic" in credentials) {
    const { basic } = credentials;
    const wanted = (isList(basic) ? basic : [basic]).map(basicText);
    if (wanted.length === 0) throw invalid("authenticate.basic is an empty list");
    return checkOf("Basic", ', charset="UTF-8"', (given) =>
      isOneOf(Buffer.from(given, "base64").toString("utf8"), wanted, key),
    );
  }
  const { bearer } = credentials;
  const tokens = typeof bearer === "string" ? [bearer] : Array.isArray(bearer) ? bearer : [];
  if (tokens.length > 0 && tokens.every(isText))
    return checkOf("Bearer", "", (given) => isOneOf(given, tokens, key));
  if (typeof bearer !== "function") {
    throw invalid("authenticate.bearer must be a token, or a function that checks one");
  }
  return checkOf("Bearer", "", async (given) => given !== "" && bearer(given));
};
