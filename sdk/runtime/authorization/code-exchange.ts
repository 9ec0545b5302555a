import type { ConversationError } from "../../../provider/kernel/errors.js";
import { isObject, parseJson } from "../../../provider/kernel/json.js";
import {
  addressOf,
  assertFilled,
  assertObject,
  errorCodeText,
  invalidInput,
  preparedInput,
} from "./authorization-rules.js";
import {
  callFailed,
  type FetchLike,
  type FormCall,
  postForm,
  type Reply,
} from "./exchange-call.js";
import { assertVerifier } from "./proof-key.js";

/** What a code is exchanged with (specification §5.3). */
export interface CodeExchange {
  /** Token address of the client application's metadata: of the same variant as the authorization address. */
  readonly tokenUrl: string;
  readonly clientId: string;
  /** The same as in the authorization. */
  readonly redirectUri: string;
  readonly code: string;
  readonly verifier: string;
  /** Default: `fetch` of the surroundings. */
  readonly fetch?: FetchLike;
  readonly signal?: AbortSignal;
  /** Longest time until the answer is complete, in milliseconds. Default: 60,000. */
  readonly timeoutMs?: number;
}

/** What the token address granted. No document shows its answer; the members are those of RFC 6749 §5.1. */
export interface GrantedToken {
  readonly accessToken: string;
  readonly tokenType?: string;
  /** Seconds, counted from receipt. */
  readonly expiresIn?: number;
  readonly refreshToken?: string;
  readonly idToken?: string;
  readonly scope?: string;
  /** The whole answer. */
  readonly raw: Readonly<Record<string, unknown>>;
}

const doing = "exchange the authorization code";

/** As long as any other call of this package may take. */
const longestMs = 60_000;

const failed = (
  code: "UNAVAILABLE" | "REJECTED" | "BAD_RESPONSE",
  text: string,
  details: { readonly status?: number; readonly serviceCode?: string } = {},
): ConversationError => callFailed({ doing }, code, text, details);

const formOf = (exchange: CodeExchange): string => {
  const { code, redirectUri, clientId, verifier } = exchange;
  assertFilled(doing, { code, redirectUri, clientId, verifier });
  assertVerifier(doing, verifier);
  return new URLSearchParams({
    grant_type: "authorization_code",
    code,
    redirect_uri: redirectUri,
    client_id: clientId,
    code_verifier: verifier,
  }).toString();
};

const isFunction = (value: unknown): boolean => typeof value === "function";

/** What is sent, checked and complete. */
const callOf = (exchange: CodeExchange): FormCall => {
  assertObject(doing, "the exchange", exchange);
  const form = formOf(exchange);
  const url = addressOf(doing, "tokenUrl", exchange.tokenUrl);
  const { signal, timeoutMs = longestMs } = exchange;
  if (exchange.fetch !== undefined && !isFunction(exchange.fetch)) {
    throw invalidInput(doing, "fetch must be a function");
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw invalidInput(doing, "signal must be an AbortSignal");
  }
  if (!(typeof timeoutMs === "number" && timeoutMs > 0 && timeoutMs < 2 ** 31)) {
    throw invalidInput(doing, "timeoutMs must be a number of milliseconds above 0");
  }
  const fetch: FetchLike = exchange.fetch ?? ((address, init) => globalThis.fetch(address, init));
  return { doing, url, form, fetch, signal, timeoutMs };
};

const objectIn = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value = parseJson(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const refused = ({ status, text }: Reply): ConversationError => {
  if (status >= 500)
    return failed("UNAVAILABLE", `the token address failed (${status}).`, { status });
  const error = objectIn(text)?.error;
  const serviceCode = typeof error === "string" ? errorCodeText(error) : "";
  const said = serviceCode === "" ? `${status}` : `${status}, ${serviceCode}`;
  return failed(
    "REJECTED",
    `the token address refused (${said}). A code is good once and for a short time: begin the authorization again.`,
    { status, ...(serviceCode === "" ? {} : { serviceCode }) },
  );
};

const textMember = (body: Readonly<Record<string, unknown>>, name: string) => {
  const value = body[name];
  return typeof value === "string" && value !== "" ? value : undefined;
};

/**
 * Exchanges the code of the redirect for tokens (specification §5.3 part 2).
 *
 * @throws ConversationError `INPUT_INVALID` before anything is sent, `REJECTED` with the error code
 * in `details.serviceCode`, `UNREACHABLE`, `TIMED_OUT`, `CANCELLED`, `UNAVAILABLE`, or `BAD_RESPONSE`
 * without an access token
 *
 * @example
 * const { accessToken } = await exchangeCode({ tokenUrl, clientId, redirectUri, code, verifier });
 */
export const exchangeCode = async (exchange: CodeExchange): Promise<GrantedToken> => {
  const call = preparedInput(doing, () => callOf(exchange));
  const reply = await postForm(call);
  if (reply.status < 200 || reply.status > 299) throw refused(reply);
  const body = objectIn(reply.text);
  const accessToken = body && textMember(body, "access_token");
  if (!body || accessToken === undefined) {
    throw failed("BAD_RESPONSE", "the answer holds no access token. Check the token address.");
  }
  const optional = (name: string, member: string) => {
    const value = textMember(body, member);
    return value === undefined ? {} : { [name]: value };
  };
  const seconds = Number(textMember(body, "expires_in") ?? body.expires_in);
  return {
    accessToken,
    ...optional("tokenType", "token_type"),
    ...(Number.isFinite(seconds) && seconds > 0 ? { expiresIn: seconds } : {}),
    ...optional("refreshToken", "refresh_token"),
    ...optional("idToken", "id_token"),
    ...optional("scope", "scope"),
    raw: body,
  };
};
