import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { ConversationError } from "../../../provider/kernel/errors.js";

/** Checks a Bearer token; true lets the call pass. A failure lets nothing pass. */
export type BearerCheck = (token: string) => boolean | Promise<boolean>;

/** What a call of the service must show: as its authentication was registered (specification §5.2). */
export type CallbackCredentials =
  | { readonly basic: { readonly username: string; readonly password: string } }
  | { readonly bearer: string | BearerCheck };

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

const schemeAndRest = (header: string | undefined): readonly [string, string] => {
  if (header === undefined || header.length > longestHeader) return ["", ""];
  const [, scheme = "", rest = ""] = /^([A-Za-z]+) +([^\s]+)\s*$/.exec(header) ?? [];
  return [scheme.toLowerCase(), rest];
};

const invalid = (rule: string): ConversationError =>
  new ConversationError(
    "INPUT_INVALID",
    `Could not make the callback handler: ${rule}. Without it anybody could send messages.`,
  );

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

const basicCheck = (username: unknown, password: unknown): CredentialCheck => {
  if (!isText(username) || !isText(password) || username.includes(":")) {
    throw invalid('authenticate.basic needs a username without ":" and a password');
  }
  const key = randomBytes(32);
  return {
    challenge: 'Basic realm="conversation", charset="UTF-8"',
    passes: async (header) => {
      const [scheme, rest] = schemeAndRest(header);
      const given = Buffer.from(rest, "base64").toString("utf8");
      return sameText(given, `${username}:${password}`, key) && scheme === "basic";
    },
  };
};

const bearerCheck = (bearer: unknown): CredentialCheck => {
  const key = randomBytes(32);
  const challenge = 'Bearer realm="conversation"';
  if (isText(bearer)) {
    const passes = async (header: string | undefined): Promise<boolean> => {
      const [scheme, rest] = schemeAndRest(header);
      return sameText(rest, bearer, key) && scheme === "bearer";
    };
    return { challenge, passes };
  }
  if (typeof bearer !== "function") {
    throw invalid("authenticate.bearer must be a token, or a function that checks one");
  }
  return {
    challenge,
    passes: async (header) => {
      const [scheme, rest] = schemeAndRest(header);
      if (scheme !== "bearer" || rest === "") return false;
      // A promise of anything but true, as JavaScript allows it, lets nothing pass.
      return (await bearer(rest)) === true;
    },
  };
};

/** @throws ConversationError `INPUT_INVALID` where there are no credentials to compare with */
export const credentialCheck = (credentials: CallbackCredentials): CredentialCheck => {
  if (typeof credentials !== "object" || credentials === null) {
    throw invalid("authenticate is missing");
  }
  if ("basic" in credentials) {
    const { username, password } = credentials.basic ?? {};
    return basicCheck(username, password);
  }
  return bearerCheck(credentials.bearer);
};
