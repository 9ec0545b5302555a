import { ConversationError } from "../../../provider/kernel/errors.js";
import { tokenAddress } from "../../../provider/service/settings/setting-rules.js";
import { inputInvalid, prepared } from "../caller-input.js";

// Runs in browsers too: nothing of Node may be imported here, not even by what is imported.

/** Refuses what has no members to read. */
export const assertObject = (doing: string, name: string, value: unknown): void => {
  if (typeof value === "object" && value !== null) return;
  throw inputInvalid(doing, `${name} must be an object`);
};

/** Refuses values that are missing or empty. */
export const assertFilled = (doing: string, values: Readonly<Record<string, string>>): void => {
  const empty = Object.entries(values).filter(([, value]) => typeof value !== "string" || !value);
  if (empty.length === 0) return;
  throw inputInvalid(doing, `${empty.map(([name]) => name).join(", ")} must be given`);
};

/** An address that is `https:`, or on this machine. */
export const addressOf = (doing: string, name: string, text: string): URL => {
  if (typeof text !== "string") throw inputInvalid(doing, `${name} must be text`);
  const parsed = tokenAddress(text);
  if ("rule" in parsed) throw inputInvalid(doing, `${name} ${parsed.rule}`);
  return new URL(parsed.value);
};

/** Printable characters of an error code only (RFC 6749 §4.1.2.1). */
export const errorCodeText = (text: string): string =>
  text.replace(/[^\x21-\x7e]/g, "").slice(0, 64);

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
const isChallenge = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

const random = (bytes: number): string =>
  base64url(globalThis.crypto.getRandomValues(new Uint8Array(bytes)));

/**
 * A new code verifier: 64 characters from 48 random bytes. Never fails.
 *
 * @example
 * const verifier = createVerifier();
 */
export const createVerifier = (): string => random(48);

/**
 * A new opaque value against cross-site request forgery: 32 characters from 24 random bytes. Never fails.
 *
 * @example
 * const state = createState();
 */
export const createState = (): string => random(24);

/**
 * The S256 challenge of a verifier (RFC 7636 §4.2).
 *
 * @throws ConversationError `INPUT_INVALID` unless the verifier has 43 to 128 unreserved characters
 * @example
 * const challenge = await challengeOf(verifier);
 */
export const challengeOf = async (verifier: string): Promise<string> => {
  assertVerifier("make a code challenge", verifier);
  const bytes = new TextEncoder().encode(verifier);
  return base64url(new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", bytes)));
};

/**
 * A new verifier and its challenge. Never fails.
 *
 * @example
 * const { verifier, challenge } = await createProofKey();
 */
export const createProofKey = async (): Promise<ProofKey> => {
  const verifier = createVerifier();
  return { verifier, challenge: await challengeOf(verifier) };
};

/** What an authorization is asked for with (specification §5.3). */
export interface AuthorizationRequest {
  /** Authorization address of the client application's metadata: the one for users or the one for customers. */
  readonly authUrl: string;
  /** Identifier of the public client. */
  readonly clientId: string;
  /** Where the user is sent back to: an address that is registered for the client, absolute and without a fragment. */
  readonly redirectUri: string;
  /** Any of the scopes that are assigned to the client application. */
  readonly scope: string | readonly string[];
}

/** An authorization that was begun: keep `state`, `verifier` and `redirectUri` until the redirect. */
export interface Authorization {
  /** Where the user is sent, with GET. */
  readonly url: string;
  /** What the redirect must bring back. */
  readonly state: string;
  /** Secret until the exchange. */
  readonly verifier: string;
  /** As it was given. */
  readonly redirectUri: string;
}

/**
 * The address that the user is sent to, with every parameter of the specification's §5.3.
 *
 * @throws ConversationError `INPUT_INVALID` where a parameter is missing or the address is not safe
 * @example
 * const { verifier, challenge } = await createProofKey();
 * const url = authorizationUrl({ authUrl, clientId, redirectUri, scope, state: createState(), challenge });
 */
export const authorizationUrl = (
  request: AuthorizationRequest & { readonly state: string; readonly challenge: string },
): string => prepared(doing, () => urlOf(request));

const doing = "make the authorization address";

const scopeOf = (scope: AuthorizationRequest["scope"]): string => {
  const words: readonly unknown[] = [scope].flat();
  if (words.every((word) => typeof word === "string")) return words.join(" ");
  throw inputInvalid(doing, "scope must be text, or a list of texts");
};

/** Where the user is sent back to is an absolute address without a fragment (RFC 6749 §3.1.2). */
const assertRedirect = (redirectUri: string): void => {
  if (URL.canParse(redirectUri) && !redirectUri.includes("#")) return;
  throw inputInvalid(doing, 'redirectUri must be an absolute address without "#"');
};

const urlOf = (request: Parameters<typeof authorizationUrl>[0]): string => {
  assertObject(doing, "the request", request);
  const { authUrl, clientId, redirectUri, state, challenge } = request;
  const scope = scopeOf(request.scope);
  assertFilled(doing, { clientId, redirectUri, scope, state, challenge });
  assertRedirect(redirectUri);
  if (!isChallenge(challenge)) throw inputInvalid(doing, "challenge is no S256 challenge");
  const url = addressOf(doing, "authUrl", authUrl);
  const parameters = {
    client_id: clientId,
    response_type: "code",
    redirect_uri: redirectUri,
    scope,
    state,
    code_challenge: challenge,
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
};

/**
 * Begins an authorization: makes proof key and state, and the address that the user is sent to.
 *
 * @throws ConversationError `INPUT_INVALID` where a parameter is missing or the address is not safe
 *
 * @example
 * const begun = await startAuthorization({ authUrl, clientId, redirectUri, scope });
 * sessionStorage.setItem("begun", JSON.stringify(begun));
 * location.assign(begun.url);
 */
export const startAuthorization = async (request: AuthorizationRequest): Promise<Authorization> => {
  assertObject(doing, "the request", request);
  const { verifier, challenge } = await createProofKey();
  const state = createState();
  const copy = prepared(doing, () => ({ ...request, state, challenge }));
  return { url: authorizationUrl(copy), state, verifier, redirectUri: copy.redirectUri };
};

const unusable = (rule: string, serviceCode?: string): ConversationError =>
  new ConversationError(
    serviceCode === undefined ? "BAD_RESPONSE" : "REJECTED",
    `Could not read the redirect of the authorization: ${rule}. Begin the authorization again.`,
    serviceCode === undefined ? {} : { serviceCode },
  );

/**
 * The code that the user was sent back with.
 *
 * @param address the whole address that the user came back to
 * @param state the state that the authorization was begun with
 * @throws ConversationError `BAD_RESPONSE` where the state is another one or there is no code,
 * `REJECTED` with the error code in `details.serviceCode` where the user or the service said no
 *
 * @example
 * const code = codeFromRedirect(location.href, begun.state);
 */
export const codeFromRedirect = (address: string | URL, state: string): string =>
  prepared(reading, () => codeIn(address, state));

const reading = "read the redirect of the authorization";

/** A URL, also of another window. */
const isUrl = (value: unknown): value is URL =>
  Object.prototype.toString.call(value) === "[object URL]";

const codeIn = (address: string | URL, state: string): string => {
  if (typeof address !== "string" && !isUrl(address)) {
    throw inputInvalid(reading, "address must be text or a URL");
  }
  if (typeof state !== "string") throw inputInvalid(reading, "state must be text");
  if (!URL.canParse(`${address}`)) throw unusable("it is no address");
  const { searchParams } = new URL(`${address}`);
  // First of all: what somebody else sent says nothing, neither yes nor no.
  const [brought, ...others] = searchParams.getAll("state");
  if (!state || brought !== state || others.length > 0) {
    throw unusable("its state is not the one that the authorization was begun with");
  }
  const error = errorCodeText(searchParams.get("error") ?? "");
  if (error !== "") throw unusable(`access was not granted (${error})`, error);
  const code = searchParams.get("code");
  if (!code || searchParams.getAll("code").length > 1) throw unusable("it holds no code");
  return code;
};
