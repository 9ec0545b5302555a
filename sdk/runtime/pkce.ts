import { ConversationError } from "../../provider/kernel/errors.js";
import { isObject, jsonIn, textAt, withoutUndefined } from "../../provider/kernel/json.js";
import { tokenAddress } from "../../provider/service/addresses.js";
import { guardInput, inputInvalid } from "./caller-input.js";

/*
 * Authorization code flow with PKCE for public clients (specification §5.3), for users and for
 * customers alike: the two variants differ in their addresses only. Runs in browsers and in Node:
 * nothing of Node may be imported here, not even transitively.
 */

/** Refuses values that are missing, empty, or no texts. */
const assertTexts = (doing: string, values: Readonly<Record<string, unknown>>): void => {
  const wrong = Object.entries(values).filter(([, value]) => typeof value !== "string" || !value);
  if (wrong.length === 0) return;
  throw inputInvalid(doing, `${wrong.map(([name]) => name).join(", ")} must be a non-empty string`);
};

/** An address that is `https:`, or on this machine. */
const checkAddress = (doing: string, name: string, text: string): URL => {
  const parsed = tokenAddress(text);
  if ("rule" in parsed) throw inputInvalid(doing, `${name} ${parsed.rule}`);
  return new URL(parsed.value);
};

/** Printable characters of an error code only (RFC 6749 §4.1.2.1). */
const errorCodeText = (text: string): string => text.replace(/[^\x21-\x7e]/g, "").slice(0, 64);

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

const makeRandomText = (bytes: number): string =>
  base64url(globalThis.crypto.getRandomValues(new Uint8Array(bytes)));

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
  /** Scopes to request, separated by spaces, chosen from those assigned to the application. */
  readonly scope: string;
}

/** An authorization in progress: keep `state` and `verifier` until the code exchange. */
export interface Authorization {
  /** The URL to send the end user to, with a GET request. */
  readonly url: string;
  /** The `state` value that the redirect must contain: 32 random characters. */
  readonly state: string;
  /** The code verifier (RFC 7636 §4.1): 64 random characters. Keep it secret until the exchange. */
  readonly verifier: string;
}

const starting = "start the authorization";

/**
 * Starts an authorization: creates a code verifier, a state, and the URL to send the end user to,
 * with every parameter that §5.3 of the specification lists.
 *
 * @throws ConversationError `INPUT_INVALID` if a parameter is missing or the URL is not safe
 *
 * @example
 * const begun = await startAuthorization({ authUrl, clientId, redirectUri, scope });
 * sessionStorage.setItem("begun", JSON.stringify(begun));
 * location.assign(begun.url);
 */
export const startAuthorization = async (request: AuthorizationRequest): Promise<Authorization> => {
  const { url, clientId, redirectUri, scope } = guardInput(starting, () => {
    const { authUrl, ...rest } = { ...request };
    assertTexts(starting, { authUrl, ...rest });
    // An absolute address without a fragment (RFC 6749 §3.1.2).
    if (!URL.canParse(rest.redirectUri) || rest.redirectUri.includes("#")) {
      throw inputInvalid(starting, 'redirectUri must be an absolute URL without "#"');
    }
    return { ...rest, url: checkAddress(starting, "authUrl", authUrl) };
  });
  const [state, verifier] = [makeRandomText(24), makeRandomText(48)];
  const bytes = new TextEncoder().encode(verifier);
  const hash = await globalThis.crypto.subtle.digest("SHA-256", bytes);
  const parameters = {
    client_id: clientId,
    response_type: "code",
    redirect_uri: redirectUri,
    scope,
    state,
    code_challenge: base64url(new Uint8Array(hash)),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { url: url.href, state, verifier };
};

const reading = "read the authorization redirect";

const unusable = (rule: string, serviceCode?: string): ConversationError =>
  new ConversationError(
    serviceCode === undefined ? "BAD_RESPONSE" : "REJECTED",
    `Could not ${reading}: ${rule}. Start the authorization again.`,
    serviceCode === undefined ? {} : { serviceCode },
  );

/**
 * Checks the redirect's state and returns its authorization code.
 *
 * @param address the complete URL that the browser returned to
 * @param state the state of the authorization
 * @throws ConversationError `INPUT_INVALID` without a complete URL, `BAD_RESPONSE` if the state
 * differs or there is no code, `REJECTED` with the error code in `details.serviceCode` if somebody
 * or the service denied access
 *
 * @example
 * const code = codeFromRedirect(location.href, begun.state);
 */
export const codeFromRedirect = (address: string, state: string): string => {
  assertTexts(reading, { address, state });
  if (!URL.canParse(address)) throw inputInvalid(reading, "address must be the complete URL");
  const { searchParams } = new URL(address);
  // Checked first: a redirect that somebody else forged means nothing, neither yes nor no.
  const [brought, ...others] = searchParams.getAll("state");
  if (brought !== state || others.length > 0) {
    throw unusable("its state does not match the authorization request");
  }
  const error = errorCodeText(searchParams.get("error") ?? "");
  if (error !== "") throw unusable(`access was not granted (${error})`, error);
  const [code, ...otherCodes] = searchParams.getAll("code");
  if (code && otherCodes.length === 0) return code;
  throw unusable("it does not contain exactly one code");
};

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
  /** The code verifier of the authorization. */
  readonly verifier: string;
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
  code: "UNREACHABLE" | "THROTTLED" | "UNAVAILABLE" | "REJECTED" | "BAD_RESPONSE",
  text: string,
  details: { readonly status?: number; readonly serviceCode?: string } = {},
): ConversationError =>
  new ConversationError(code, `Could not ${exchanging}: ${text}`, details, "unknown");

const postForm = async (url: URL, form: Readonly<Record<string, string>>) => {
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: { accept: "application/json" },
      body: new URLSearchParams(form),
      redirect: "error",
      signal: AbortSignal.timeout(longestMs),
    });
    const { status } = answer;
    const body = jsonIn(await answer.text());
    return { status, body: isObject(body) ? body : {} };
  } catch {
    const text = `${url.host} did not send a complete response within ${longestMs / 1000} s, or sent a redirect. Check the URL and the network; in a browser, also check that the token URL allows this origin.`;
    throw failed("UNREACHABLE", text);
  }
};

/**
 * Exchanges the code from the redirect for tokens (specification §5.3, part 2).
 *
 * @throws ConversationError `INPUT_INVALID` before anything is sent, `REJECTED` with the error code
 * in `details.serviceCode`, `UNREACHABLE` without a response within 60 s, `THROTTLED`,
 * `UNAVAILABLE`, or `BAD_RESPONSE` without an access token
 *
 * @example
 * const { accessToken } = await exchangeCode({ tokenUrl, clientId, redirectUri, code, verifier });
 */
export const exchangeCode = async (exchange: CodeExchange): Promise<GrantedToken> => {
  const { url, code, redirectUri, clientId, verifier } = guardInput(exchanging, () => {
    const { tokenUrl, ...rest } = { ...exchange };
    assertTexts(exchanging, { tokenUrl, ...rest });
    return { ...rest, url: checkAddress(exchanging, "tokenUrl", tokenUrl) };
  });
  const { status, body } = await postForm(url, {
    grant_type: "authorization_code",
    code,
    redirect_uri: redirectUri,
    client_id: clientId,
    code_verifier: verifier,
  });
  if (status === 429 || status >= 500) {
    const text = `the token request failed (${status}). Try again later.`;
    throw failed(status === 429 ? "THROTTLED" : "UNAVAILABLE", text, { status });
  }
  if (status > 299) {
    const serviceCode = errorCodeText(textAt(body, "error") ?? "") || undefined;
    const said = serviceCode === undefined ? `${status}` : `${status}, ${serviceCode}`;
    const text = `the token URL refused the request (${said}). A code is valid only once and only for a short time: start the authorization again.`;
    throw failed("REJECTED", text, withoutUndefined({ status, serviceCode }));
  }
  const accessToken = textAt(body, "access_token");
  if (accessToken === undefined) {
    throw failed("BAD_RESPONSE", "the response has no access token. Check the token URL.");
  }
  const seconds = Number.parseFloat(String(body.expires_in));
  return {
    accessToken,
    ...withoutUndefined({
      tokenType: textAt(body, "token_type"),
      expiresIn: Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined,
      refreshToken: textAt(body, "refresh_token"),
      idToken: textAt(body, "id_token"),
      scope: textAt(body, "scope"),
    }),
    raw: body,
  };
};
