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

/** @throws ConversationError `INPUT_INVALID` where there are no credentials to compare with */
export const credentialCheck = (credentials: CallbackCredentials): CredentialCheck => {
  if (typeof credentials !== "object" || credentials === null) {
    throw invalid("authenticate is missing");
  }
  const key = randomBytes(32);
  if ("basic" in credentials) {
    const { username, password } = credentials.basic ?? {};
    if (!isText(username) || !isText(password) || username.includes(":")) {
      throw invalid('authenticate.basic needs a username without ":" and a password');
    }
    const wanted = `${username}:${password}`;
    return checkOf("Basic", ', charset="UTF-8"', (given) =>
      sameText(Buffer.from(given, "base64").toString("utf8"), wanted, key),
    );
  }
  const { bearer } = credentials;
  if (isText(bearer)) return checkOf("Bearer", "", (given) => sameText(given, bearer, key));
  if (typeof bearer !== "function") {
    throw invalid("authenticate.bearer must be a token, or a function that checks one");
  }
  return checkOf("Bearer", "", async (given) => given !== "" && bearer(given));
};
