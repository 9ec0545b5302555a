import { inputInvalid } from "../caller-input.js";

/** A proof key: the verifier stays with the application, the challenge goes into the address. */
export interface ProofKey {
  /** 43 to 128 unreserved characters (RFC 7636 §4.1). Secret until the exchange. */
  readonly verifier: string;
  /** Base64url of the verifier's SHA-256 (RFC 7636 §4.2). */
  readonly challenge: string;
}

const verifierRule = /^[A-Za-z0-9._~-]{43,128}$/;

/** @throws ConversationError `INPUT_INVALID` unless it has 43 to 128 unreserved characters */
export const assertVerifier = (doing: string, verifier: string): void => {
  if (typeof verifier === "string" && verifierRule.test(verifier)) return;
  throw inputInvalid(
    doing,
    'a verifier has 43 to 128 characters: letters, digits, "-", ".", "_" and "~"',
  );
};

/** Whether a text can be the base64url of a SHA-256. */
export const isChallenge = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");

const random = (bytes: number): string =>
  base64url(globalThis.crypto.getRandomValues(new Uint8Array(bytes)));

/** A new code verifier: 64 characters from 48 random bytes. */
export const createVerifier = (): string => random(48);

/** A new opaque value against cross-site request forgery: 32 characters from 24 random bytes. */
export const createState = (): string => random(24);

/**
 * The S256 challenge of a verifier (RFC 7636 §4.2).
 *
 * @throws ConversationError `INPUT_INVALID` unless the verifier has 43 to 128 unreserved characters
 */
export const challengeOf = async (verifier: string): Promise<string> => {
  assertVerifier("make a code challenge", verifier);
  const bytes = new TextEncoder().encode(verifier);
  return base64url(new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", bytes)));
};

/** A new verifier and its challenge. */
export const createProofKey = async (): Promise<ProofKey> => {
  const verifier = createVerifier();
  return { verifier, challenge: await challengeOf(verifier) };
};
