import { ConversationError } from "../../../provider/kernel/errors.js";
import { isObject, type JsonObject } from "../../../provider/kernel/json.js";
import { jsonIn } from "../../../provider/kernel/json-text.js";
import { inputInvalid, prepared } from "../caller-input.js";
import { textAt, withoutUndefined } from "../json-members.js";
import {
  addressOf,
  assertFilled,
  assertObject,
  assertVerifier,
  errorCodeText,
} from "./authorization.js";
import { type FetchAnswer, type TokenAnswer, tokenAnswer } from "./token-answer.js";

// Runs in browsers too: nothing of Node may be imported here, not even by what is imported.

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
) => Promise<FetchAnswer>;

/** What a code is exchanged with (specification §5.3). */
export interface CodeExchange {
  /** Token address of the client application's metadata: of the same variant as the authorization address. */
  readonly tokenUrl: string;
  /** Identifier of the public client. */
  readonly clientId: string;
  /** The same as in the authorization. */
  readonly redirectUri: string;
  /** What `codeFromRedirect` gave. Good once. */
  readonly code: string;
  /** Of the proof key that the authorization was begun with. */
  readonly verifier: string;
  /** Default: the global `fetch`. */
  readonly fetch?: FetchLike;
  /** Ends the exchange with `CANCELLED`. */
  readonly signal?: AbortSignal;
  /** Longest time until the answer is complete, in milliseconds. Default: 60,000. */
  readonly timeoutMs?: number;
}

/** What the token address granted. No document shows its answer; the members are those of RFC 6749 §5.1. */
export interface GrantedToken {
  /** Secret. */
  readonly accessToken: string;
  /** Such as `Bearer`. */
  readonly tokenType?: string;
  /** Seconds, counted from receipt. */
  readonly expiresIn?: number;
  /** Secret. */
  readonly refreshToken?: string;
  /** Secret. */
  readonly idToken?: string;
  /** Scopes granted, separated by blanks. */
  readonly scope?: string;
  /** The whole answer. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/** One form on its way to a token address. */
interface FormCall {
  readonly url: URL;
  readonly form: string;
  readonly fetch: FetchLike;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
}

const doing = "exchange the authorization code";

/** As long as any other call of this package may take. */
const longestMs = 60_000;

/** A code is good once: whether it was used up is not known unless the answer says so. */
const failed = (
  code: "UNREACHABLE" | "UNAVAILABLE" | "REJECTED" | "BAD_RESPONSE" | "CANCELLED" | "TIMED_OUT",
  text: string,
  details: { readonly status?: number; readonly serviceCode?: string } = {},
): ConversationError =>
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

/** What is sent, checked and complete. */
const callOf = (exchange: CodeExchange): FormCall => {
  assertObject(doing, "the exchange", exchange);
  const form = formOf(exchange);
  const url = addressOf(doing, "tokenUrl", exchange.tokenUrl);
  const { signal, timeoutMs = longestMs } = exchange;
  if (exchange.fetch !== undefined && typeof exchange.fetch !== "function") {
    throw inputInvalid(doing, "fetch must be a function");
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw inputInvalid(doing, "signal must be an AbortSignal");
  }
  if (!(typeof timeoutMs === "number" && timeoutMs > 0 && timeoutMs < 2 ** 31)) {
    throw inputInvalid(doing, "timeoutMs must be a number of milliseconds above 0");
  }
  const fetch: FetchLike = exchange.fetch ?? ((address, init) => globalThis.fetch(address, init));
  return { url, form, fetch, signal, timeoutMs };
};

const posted = async (
  { url, form, fetch }: FormCall,
  signal: AbortSignal,
): Promise<TokenAnswer> => {
  const response = await fetch(url.href, {
    method: "POST",
    headers: {
      accept: "application/json",
      "content-type": "application/x-www-form-urlencoded",
    },
    body: form,
    redirect: "error",
    signal,
  });
  return tokenAnswer(response);
};

/** Posts a form; ends in time, and when the caller gives up, whatever `fetch` makes of its signal. */
const answerTo = async (call: FormCall): Promise<TokenAnswer> => {
  const { url, signal, timeoutMs } = call;
  const over = new AbortController();
  const ended = new Promise<never>((_, reject) => {
    over.signal.addEventListener("abort", () => reject(over.signal.reason));
  });
  const late = `${url.host} gave no complete answer within ${timeoutMs} ms. Check the address and the network.`;
  const timer = setTimeout(() => over.abort(failed("TIMED_OUT", late)), timeoutMs);
  const giveUp = (): void => over.abort(failed("CANCELLED", "it was given up."));
  signal?.addEventListener("abort", giveUp, { once: true });
  if (signal?.aborted) giveUp();
  try {
    return await Promise.race([ended, posted(call, over.signal)]);
  } catch (error) {
    if (error instanceof ConversationError) throw error;
    throw failed(
      "UNREACHABLE",
      `no answer from ${url.host}, or a redirect. Check the address, the network and, in a browser, that the token address allows this origin.`,
    );
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
  }
};

const objectIn = (text: string | undefined): JsonObject | undefined => {
  const value = typeof text === "string" ? jsonIn(text) : undefined;
  return isObject(value) ? value : undefined;
};

const refused = ({ status, text }: TokenAnswer): ConversationError => {
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
  const answer = await answerTo(prepared(doing, () => callOf(exchange)));
  if (!(answer.status >= 200)) {
    throw failed("BAD_RESPONSE", "the answer has no status. Check the function given as fetch.");
  }
  if (answer.status > 299) throw refused(answer);
  const body = objectIn(answer.text);
  const accessToken = textAt(body, "access_token");
  if (!body || accessToken === undefined) {
    throw failed("BAD_RESPONSE", "the answer holds no access token. Check the token address.");
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
