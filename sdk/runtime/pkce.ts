import { ConversationError } from "../../provider/kernel/errors.js";
import {
  isObject,
  type JsonObject,
  jsonIn,
  textAt,
  withoutUndefined,
} from "../../provider/kernel/json.js";
import { tokenAddress } from "../../provider/service/addresses.js";
import { inputInvalid, prepared } from "./caller-input.js";

/*
 * Authorization code flow with PKCE for public clients (specification §5.3), for users and for
 * customers alike: the two variants differ in their addresses only. Runs in browsers and in Node:
 * nothing of Node may be imported here, not even transitively.
 */

/** Refuses what has no members to read. */
const assertObject = (doing: string, name: string, value: unknown): void => {
  if (typeof value === "object" && value !== null) return;
  throw inputInvalid(doing, `${name} must be an object`);
};

/** Refuses values that are missing or empty. */
const assertFilled = (doing: string, values: Readonly<Record<string, string>>): void => {
  const empty = Object.entries(values).filter(([, value]) => typeof value !== "string" || !value);
  if (empty.length === 0) return;
  throw inputInvalid(doing, `${empty.map(([name]) => name).join(", ")} must not be empty`);
};

/** An address that is `https:`, or on this machine. */
const addressOf = (doing: string, name: string, text: string): URL => {
  if (typeof text !== "string") throw inputInvalid(doing, `${name} must be a string`);
  const parsed = tokenAddress(text);
  if ("rule" in parsed) throw inputInvalid(doing, `${name} ${parsed.rule}`);
  return new URL(parsed.value);
};

/** Printable characters of an error code only (RFC 6749 §4.1.2.1). */
const errorCodeText = (text: string): string => text.replace(/[^\x21-\x7e]/g, "").slice(0, 64);

/**
 * A proof key: a verifier, which stays in the application, and a challenge, which is part of the
 * authorization URL.
 */
export interface ProofKey {
  /**
   * The code verifier: 43 to 128 unreserved characters (RFC 7636 §4.1). Keep it secret until the
   * exchange.
   */
  readonly verifier: string;
  /** The code challenge: base64url encoding of the verifier's SHA-256 hash (RFC 7636 §4.2). */
  readonly challenge: string;
}

const verifierRule = /^[A-Za-z0-9._~-]{43,128}$/;

/** @throws ConversationError `INPUT_INVALID` unless it has 43 to 128 unreserved characters */
const assertVerifier = (doing: string, verifier: string): void => {
  if (typeof verifier === "string" && verifierRule.test(verifier)) return;
  throw inputInvalid(
    doing,
    'a verifier must have 43 to 128 characters: letters, digits, "-", ".", "_", and "~"',
  );
};

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

const random = (bytes: number): string =>
  base64url(globalThis.crypto.getRandomValues(new Uint8Array(bytes)));

/**
 * Creates a code verifier: 64 characters from 48 random bytes. Never fails.
 *
 * @example
 * const verifier = createVerifier();
 */
export const createVerifier = (): string => random(48);

/**
 * Creates an opaque value that protects against cross-site request forgery: 32 characters from 24
 * random bytes. Never fails.
 *
 * @example
 * const state = createState();
 */
export const createState = (): string => random(24);

/**
 * Computes the S256 challenge for a verifier (RFC 7636 §4.2).
 *
 * @throws ConversationError `INPUT_INVALID` unless the verifier has 43 to 128 unreserved characters
 * @example
 * const challenge = await challengeOf(verifier);
 */
export const challengeOf = async (verifier: string): Promise<string> => {
  assertVerifier("create a code challenge", verifier);
  const bytes = new TextEncoder().encode(verifier);
  return base64url(new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", bytes)));
};

/**
 * Creates a verifier and its challenge. Never fails.
 *
 * @example
 * const { verifier, challenge } = await createProofKey();
 */
export const createProofKey = async (): Promise<ProofKey> => {
  const verifier = createVerifier();
  return { verifier, challenge: await challengeOf(verifier) };
};

/** The parameters of an authorization request (specification §5.3). */
export interface AuthorizationRequest {
  /**
   * Authorization URL from the client application's metadata, in its variant for users or for
   * customers.
   */
  readonly authUrl: string;
  /** Identifier of the public client. */
  readonly clientId: string;
  /**
   * URL that the end user returns to. It must be absolute, have no fragment, and be registered for
   * the client.
   */
  readonly redirectUri: string;
  /** Scopes to request, chosen from those assigned to the client application. */
  readonly scope: string | readonly string[];
}

/**
 * An authorization in progress: keep `state`, `verifier`, and `redirectUri` until the code exchange.
 */
export interface Authorization {
  /** The URL to send the end user to, with a GET request. */
  readonly url: string;
  /** The `state` value that the redirect must contain. */
  readonly state: string;
  /** The code verifier. Keep it secret until the exchange. */
  readonly verifier: string;
  /** The redirect URI from the request. */
  readonly redirectUri: string;
}

const making = "create the authorization URL";

const scopeOf = (scope: AuthorizationRequest["scope"]): string => {
  const words: readonly unknown[] = [scope].flat();
  if (words.every((word) => typeof word === "string")) return words.join(" ");
  throw inputInvalid(making, "scope must be a string or a list of strings");
};

/**
 * Creates the URL to send the end user to, with every parameter that §5.3 of the specification
 * lists.
 *
 * @throws ConversationError `INPUT_INVALID` if a parameter is missing or the URL is not safe
 * @example
 * const { verifier, challenge } = await createProofKey();
 * const url = authorizationUrl({ authUrl, clientId, redirectUri, scope, state: createState(), challenge });
 */
export const authorizationUrl = (
  request: AuthorizationRequest & { readonly state: string; readonly challenge: string },
): string =>
  prepared(making, () => {
    assertObject(making, "the request", request);
    const { authUrl, clientId, redirectUri, state, challenge } = request;
    const scope = scopeOf(request.scope);
    assertFilled(making, { clientId, redirectUri, scope, state, challenge });
    // An absolute address without a fragment (RFC 6749 §3.1.2).
    if (!URL.canParse(redirectUri) || redirectUri.includes("#")) {
      throw inputInvalid(making, 'redirectUri must be an absolute URL without "#"');
    }
    // The base64url of a SHA-256.
    if (!/^[A-Za-z0-9_-]{43}$/.test(challenge)) {
      throw inputInvalid(making, "challenge must be an S256 challenge");
    }
    const url = addressOf(making, "authUrl", authUrl);
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
  });

/**
 * Starts an authorization: creates a proof key, a state, and the URL to send the end user to.
 *
 * @throws ConversationError `INPUT_INVALID` if a parameter is missing or the URL is not safe
 *
 * @example
 * const begun = await startAuthorization({ authUrl, clientId, redirectUri, scope });
 * sessionStorage.setItem("begun", JSON.stringify(begun));
 * location.assign(begun.url);
 */
export const startAuthorization = async (request: AuthorizationRequest): Promise<Authorization> => {
  assertObject(making, "the request", request);
  const { verifier, challenge } = await createProofKey();
  const state = createState();
  const copy = prepared(making, () => ({ ...request, state, challenge }));
  return { url: authorizationUrl(copy), state, verifier, redirectUri: copy.redirectUri };
};

/** The codes after which the same request fails again (RFC 6749 §4.1.2.1). */
const requestErrors =
  /^(invalid_request|invalid_scope|unauthorized_client|unsupported_response_type)$/;

const unusable = (rule: string, serviceCode?: string): ConversationError => {
  const check = requestErrors.test(serviceCode ?? "")
    ? "Check clientId, redirectUri and scope. Then start"
    : "Start";
  return new ConversationError(
    serviceCode === undefined ? "BAD_RESPONSE" : "REJECTED",
    `Could not read the authorization redirect: ${rule}. ${check} the authorization again.`,
    serviceCode === undefined ? {} : { serviceCode },
  );
};

const reading = "read the authorization redirect";

/** A URL, also of another window. */
const isUrl = (value: unknown): value is URL =>
  Object.prototype.toString.call(value) === "[object URL]";

/**
 * Checks the redirect's state and returns its authorization code.
 *
 * @param address the complete URL that the browser returned to
 * @param state the state of the authorization
 * @throws ConversationError `BAD_RESPONSE` if the state differs or there is no code, `REJECTED`
 * with the error code in `details.serviceCode` if somebody or the service denied access
 *
 * @example
 * const code = codeFromRedirect(location.href, begun.state);
 */
export const codeFromRedirect = (address: string | URL, state: string): string =>
  prepared(reading, () => {
    if (typeof address !== "string" && !isUrl(address)) {
      throw inputInvalid(reading, "address must be a string or a URL");
    }
    if (typeof state !== "string") throw inputInvalid(reading, "state must be a string");
    if (!URL.canParse(`${address}`)) throw unusable("it is not a URL");
    const { searchParams } = new URL(`${address}`);
    // Checked first: a redirect that somebody else forged means nothing, neither yes nor no.
    const [brought, ...others] = searchParams.getAll("state");
    if (!state || brought !== state || others.length > 0) {
      throw unusable("its state does not match the authorization request");
    }
    const error = errorCodeText(searchParams.get("error") ?? "");
    if (error !== "") throw unusable(`access was not granted (${error})`, error);
    const code = searchParams.get("code");
    if (!code || searchParams.getAll("code").length > 1)
      throw unusable("it does not contain exactly one code");
    return code;
  });

/** Enough of an answer of `fetch`. */
interface FetchAnswer {
  readonly status: number;
  text(): Promise<string>;
}

/** The part of the `fetch` interface that a code exchange needs. */
export type FetchLike = (
  url: string,
  init: {
    readonly method: "POST";
    readonly headers: Record<string, string>;
    readonly body: string;
    readonly redirect: "error";
    readonly signal?: AbortSignal;
  },
) => Promise<FetchAnswer>;

/** The parameters of a code exchange (specification §5.3). */
export interface CodeExchange {
  /**
   * Token URL from the client application's metadata, in the same variant as the authorization URL.
   */
  readonly tokenUrl: string;
  /** Identifier of the public client. */
  readonly clientId: string;
  /** The redirect URI from the authorization request. */
  readonly redirectUri: string;
  /** The authorization code from `codeFromRedirect`. It can be used only once. */
  readonly code: string;
  /** The verifier of the authorization's proof key. */
  readonly verifier: string;
  /** Function that sends the request. Default: the global `fetch`. */
  readonly fetch?: FetchLike;
  /** Signal that cancels the exchange with `CANCELLED`. */
  readonly signal?: AbortSignal;
  /** Time limit for the complete response, in milliseconds. Default: 60,000. */
  readonly timeoutMs?: number;
}

/**
 * The tokens returned by the token URL. The response is not documented, so the members follow RFC
 * 6749 §5.1.
 */
export interface GrantedToken {
  /** The access token. Secret. */
  readonly accessToken: string;
  /** Type of the token, such as `Bearer`. */
  readonly tokenType?: string;
  /** Lifetime of the access token, in seconds from receipt. */
  readonly expiresIn?: number;
  /** The refresh token. Secret. */
  readonly refreshToken?: string;
  /** The ID token. Secret. */
  readonly idToken?: string;
  /** Granted scopes, separated by spaces. */
  readonly scope?: string;
  /** The complete response. */
  readonly raw: Readonly<Record<string, unknown>>;
}

const exchanging = "exchange the authorization code";

/** As long as any other call of this package may take. */
const longestMs = 60_000;

/** A code is good once: whether it was used up is not known unless the answer says so. */
const failed = (
  code: "UNREACHABLE" | "UNAVAILABLE" | "REJECTED" | "BAD_RESPONSE" | "CANCELLED" | "TIMED_OUT",
  text: string,
  details: { readonly status?: number; readonly serviceCode?: string } = {},
): ConversationError =>
  new ConversationError(code, `Could not ${exchanging}: ${text}`, details, "unknown");

/** What is sent, checked, and complete. */
const checkExchange = (exchange: CodeExchange) => {
  assertObject(exchanging, "the exchange", exchange);
  const { code, redirectUri, clientId, verifier, signal, timeoutMs = longestMs } = exchange;
  assertFilled(exchanging, { code, redirectUri, clientId, verifier });
  assertVerifier(exchanging, verifier);
  const url = addressOf(exchanging, "tokenUrl", exchange.tokenUrl);
  if (exchange.fetch !== undefined && typeof exchange.fetch !== "function") {
    throw inputInvalid(exchanging, "fetch must be a function");
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw inputInvalid(exchanging, "signal must be an AbortSignal");
  }
  if (!(typeof timeoutMs === "number" && timeoutMs > 0 && timeoutMs < 2 ** 31)) {
    throw inputInvalid(exchanging, "timeoutMs must be a number of milliseconds greater than 0");
  }
  const fetch: FetchLike = exchange.fetch ?? ((address, init) => globalThis.fetch(address, init));
  const form = {
    grant_type: "authorization_code",
    code,
    redirect_uri: redirectUri,
    client_id: clientId,
    code_verifier: verifier,
  };
  return { url, body: new URLSearchParams(form).toString(), fetch, signal, timeoutMs };
};

interface TokenAnswer {
  readonly status: number;
  readonly text: string;
}

/** Posts the form; ends in time, and when the caller gives up, whatever `fetch` makes of its signal. */
const postForm = async (checked: ReturnType<typeof checkExchange>): Promise<TokenAnswer> => {
  const { url, body, fetch, signal, timeoutMs } = checked;
  const over = new AbortController();
  const ended = new Promise<never>((_, reject) => {
    over.signal.addEventListener("abort", () => reject(over.signal.reason));
  });
  const late = `${url.host} did not send a complete response within ${timeoutMs} ms. Check the URL and the network.`;
  const timer = setTimeout(() => over.abort(failed("TIMED_OUT", late)), timeoutMs);
  const giveUp = (): void => over.abort(failed("CANCELLED", "the exchange was canceled."));
  signal?.addEventListener("abort", giveUp, { once: true });
  if (signal?.aborted) giveUp();
  const post = async (): Promise<TokenAnswer> => {
    const answer = await fetch(url.href, {
      method: "POST",
      headers: {
        accept: "application/json",
        "content-type": "application/x-www-form-urlencoded",
      },
      body,
      redirect: "error",
      signal: over.signal,
    });
    return { status: answer.status, text: await answer.text() };
  };
  try {
    return await Promise.race([ended, post()]);
  } catch (error) {
    if (error instanceof ConversationError) throw error;
    throw failed(
      "UNREACHABLE",
      `${url.host} did not respond, or sent a redirect. Check the URL and the network; in a browser, also check that the token URL allows this origin.`,
    );
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
  }
};

const objectIn = (text: string): JsonObject | undefined => {
  const value = typeof text === "string" ? jsonIn(text) : undefined;
  return isObject(value) ? value : undefined;
};

const refused = ({ status, text }: TokenAnswer): ConversationError => {
  if (status >= 500)
    return failed("UNAVAILABLE", `the token request failed (${status}). Try again later.`, {
      status,
    });
  const error = objectIn(text)?.error;
  const serviceCode = typeof error === "string" ? errorCodeText(error) : "";
  const said = serviceCode === "" ? `${status}` : `${status}, ${serviceCode}`;
  return failed(
    "REJECTED",
    `the token URL refused the request (${said}). A code is valid only once and only for a short time: start the authorization again.`,
    { status, ...(serviceCode === "" ? {} : { serviceCode }) },
  );
};

/**
 * Exchanges the code from the redirect for tokens (specification §5.3, part 2).
 *
 * @throws ConversationError `INPUT_INVALID` before anything is sent, `REJECTED` with the error code
 * in `details.serviceCode`, `UNREACHABLE`, `TIMED_OUT`, `CANCELLED`, `UNAVAILABLE`, or `BAD_RESPONSE`
 * without an access token
 *
 * @example
 * const { accessToken } = await exchangeCode({ tokenUrl, clientId, redirectUri, code, verifier });
 */
export const exchangeCode = async (exchange: CodeExchange): Promise<GrantedToken> => {
  const answer = await postForm(prepared(exchanging, () => checkExchange(exchange)));
  if (!(answer.status >= 200)) {
    throw failed(
      "BAD_RESPONSE",
      "the response has no status. Check the function that you pass as fetch.",
    );
  }
  if (answer.status > 299) throw refused(answer);
  const body = objectIn(answer.text);
  const accessToken = textAt(body, "access_token");
  if (!body || accessToken === undefined) {
    throw failed("BAD_RESPONSE", "the response has no access token. Check the token URL.");
  }
  const seconds = Number(textAt(body, "expires_in") ?? body.expires_in);
  return {
    accessToken,
    ...withoutUndefined({
      tokenType: textAt(body, "token_type"),
      expiresIn: Number.isFinite(seconds) && seconds > 0 ? seconds : undefined,
      refreshToken: textAt(body, "refresh_token"),
      idToken: textAt(body, "id_token"),
      scope: textAt(body, "scope"),
    }),
    raw: body,
  };
};
