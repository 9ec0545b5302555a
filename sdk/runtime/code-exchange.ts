import { isObject } from "../../provider/definition/json.js";
import { ConversationError } from "../../provider/service/errors.js";
import { parseJson } from "../../provider/service/json.js";
import { addressOf, assertFilled, errorCodeText } from "./authorization-rules.js";
import { assertVerifier } from "./proof-key.js";

/** Enough of `fetch` for one call. */
export type FetchLike = (
  url: string,
  init: {
    readonly method: "POST";
    readonly headers: Record<string, string>;
    readonly body: string;
    readonly redirect: "error";
    readonly signal?: AbortSignal;
  },
) => Promise<{ readonly status: number; text(): Promise<string> }>;

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

const failed = (
  code: "UNREACHABLE" | "UNAVAILABLE" | "REJECTED" | "BAD_RESPONSE" | "CANCELLED",
  text: string,
  details: { readonly status?: number; readonly serviceCode?: string } = {},
): ConversationError =>
  // A code is good once: whether it was used up is not known unless the answer says so.
  new ConversationError(code, `Could not ${doing}: ${text}`, details, "unknown");

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

interface Reply {
  readonly status: number;
  readonly text: string;
}

const posted = async (exchange: CodeExchange): Promise<Reply> => {
  const body = formOf(exchange);
  const url = addressOf(doing, "tokenUrl", exchange.tokenUrl);
  const send: FetchLike = exchange.fetch ?? ((address, init) => globalThis.fetch(address, init));
  const { signal } = exchange;
  try {
    const response = await send(url.href, {
      method: "POST",
      headers: {
        accept: "application/json",
        "content-type": "application/x-www-form-urlencoded",
      },
      body,
      redirect: "error",
      ...(signal ? { signal } : {}),
    });
    return { status: response.status, text: await response.text() };
  } catch {
    if (signal?.aborted) throw failed("CANCELLED", "it was given up.");
    throw failed(
      "UNREACHABLE",
      `no answer from ${url.host}, or a redirect. Check the address, the network and, in a browser, that the token address allows this origin.`,
    );
  }
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
 * in `details.serviceCode`, `UNREACHABLE`, `UNAVAILABLE`, or `BAD_RESPONSE` without an access token
 */
export const exchangeCode = async (exchange: CodeExchange): Promise<GrantedToken> => {
  const reply = await posted(exchange);
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
