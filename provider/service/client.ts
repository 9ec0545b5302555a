import type { Clock } from "../kernel/clock.js";
import { ConversationError, type ErrorDetails, isConversationError } from "../kernel/errors.js";
import { isObject, jsonIn } from "../kernel/json.js";
import {
  type Answer,
  answerOf,
  type DatedAnswer,
  type Exchange,
  givenUp,
  unanswered,
} from "./answer.js";
import {
  type AccessToken,
  type Call,
  type CallParameters,
  callOf,
  type TokenParts,
} from "./call.js";
import type { Endpoint, Operation } from "./operations.js";
import { clientSecrets, foreignError, shownText } from "./redaction.js";
import { keepUnknownEffect, mayRepeat, withRetry } from "./retry.js";
import type { SettingKey, Settings } from "./setting-table.js";
import { commercialScope, settingLabel } from "./settings.js";
import {
  connectionFault,
  type HttpRequest,
  type HttpResponse,
  TransportFailure,
} from "./transport.js";

/**
 * Calls an operation: waits for its turn, authenticates, and repeats the call if that is allowed.
 *
 * @throws ConversationError for every failure
 */
export type Request = (operation: Operation, options?: CallParameters) => Promise<Answer>;

/** Like {@link Request}, but also returns the response's arrival time and body length. */
export type DatedRequest = (operation: Operation, options?: CallParameters) => Promise<DatedAnswer>;

/**
 * Returns a request function that applies the policies to each call: repeat, wait for a turn,
 * authenticate, send.
 */
export const datedRequest =
  (parts: ClientParts): DatedRequest =>
  async (operation, options = {}) => {
    const call = callOf(parts, operation, options);
    const { signal } = call;
    return withRetry(
      keepUnknownEffect(async () => answerOf(await authorized(parts, call))),
      (error, failures) => mayRepeat(operation, error, failures),
      { limits: parts.retry ?? {}, signal, clock: parts.clock, onRepeat: parts.onRepeat },
    );
  };

/** Like {@link datedRequest}, but returns only the status and body. */
export const serviceRequest = (parts: ClientParts): Request => {
  const dated = datedRequest(parts);
  return async (operation, options) => {
    const { status, body } = await dated(operation, options);
    return { status, body };
  };
};

/**
 * Sends a call, in its turn, with a token; if that is refused (401), sends it once more with a new
 * one.
 */
const authorized = async (parts: ClientParts, call: Call): Promise<Exchange> => {
  const first = await paced(parts, call, () => parts.tokens.current());
  const { token } = first.call;
  if (first.response.status !== 401 || !token) return first;
  const again = await paced(parts, call, () => parts.tokens.after(token));
  return { ...again, call: hiding(again.call, token) };
};

/** @param choose chooses a token after the wait, which may be longer than a token's lifetime */
const paced = async (
  parts: ClientParts,
  call: Call,
  choose: () => AccessToken | Promise<AccessToken>,
): Promise<Exchange> => {
  let signed = call;
  const attempt = async (): Promise<HttpResponse> => {
    const chosen = choose();
    const token = chosen instanceof Promise ? await unlessGivenUp(chosen, call) : chosen;
    signed = { ...hiding(call, token), token };
    return sentWith(parts, signed, token);
  };
  const response = await parts.pace(call.operation, attempt, call.signal);
  return { call: signed, response };
};

/** The call with a token that no message about it shows. */
const hiding = (call: Call, { value }: AccessToken): Call => ({
  ...call,
  secrets: () => [...call.secrets(), value],
});

/** A shared promise continues without a caller who gives up waiting for it. */
const unlessGivenUp = <T>(promise: Promise<T>, call: Call): Promise<T> =>
  new Promise((resolve, reject) => {
    const { signal } = call;
    const giveUp = (): void => reject(givenUp(call));
    signal.addEventListener("abort", giveUp, { once: true });
    if (signal.aborted) giveUp();
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", giveUp));
  });

/** The parts that all calls of one connection share. */
interface ClientParts extends TokenParts {
  readonly tokens: AccessTokens;
  /** Called with every answer of the service, with any status. */
  readonly onAnswer?: (response: HttpResponse) => void;
}

/** Sends a call with a token, once. */
const sentWith = async (
  { transport, headers, onAnswer }: ClientParts,
  call: Call,
  token: AccessToken,
): Promise<HttpResponse> => {
  const { operation, url, text, signal } = call;
  try {
    const response = await transport.send({
      method: operation.method,
      url,
      headers: {
        ...headers,
        ...(text === undefined ? {} : { "content-type": "application/json" }),
        authorization: `Bearer ${token.value}`,
      },
      ...(text === undefined ? {} : { body: text }),
      ...(operation.method === "GET" ? { signal } : {}),
    });
    onAnswer?.(response);
    return response;
  } catch (error) {
    if (error instanceof TransportFailure) throw unanswered(call, error);
    throw foreignError(error, call.secrets());
  }
};

/** One token, shared by all calls. */
interface AccessTokens {
  /** The token in use; fetched if there is none or if it is about to expire. */
  current(): AccessToken | Promise<AccessToken>;
  /**
   * A token other than the one that the service has just refused; all refused callers share one
   * fetch.
   */
  after(refused: AccessToken): Promise<AccessToken>;
  /** The last token, if any was fetched. */
  readonly last: AccessToken | undefined;
}

const assumedLifetimeS = 300;

const longestMarginMs = 60_000;

/**
 * A token is used until 60 s before it expires, or until a tenth of its life is left if that is
 * shorter.
 */
const usableMs = (expiresIn = assumedLifetimeS): number => {
  const lifetimeMs = expiresIn * 1000;
  return lifetimeMs - Math.min(longestMarginMs, lifetimeMs / 10);
};

/**
 * Keeps one token, judged by its granted lifetime and the monotonic clock.
 *
 * @param fetchGrant calls the token URL; its failures reach every waiting caller
 */
const accessTokens = (fetchGrant: () => Promise<TokenGrant>, clock: Clock): AccessTokens => {
  let last: AccessToken | undefined;
  let pending: Promise<AccessToken> | undefined;
  let generation = 0;

  const fetched = async (): Promise<AccessToken> => {
    const grant = await fetchGrant();
    generation += 1;
    last = {
      value: grant.accessToken,
      generation,
      usableUntil: clock.now() + usableMs(grant.expiresIn),
      ...(grant.scopes ? { scopes: grant.scopes } : {}),
    };
    return last;
  };

  const shared = (): Promise<AccessToken> => {
    pending ??= fetched().finally(() => {
      pending = undefined;
    });
    return pending;
  };

  const usable = (): AccessToken | undefined =>
    last && clock.now() < last.usableUntil ? last : undefined;

  return {
    current: () => usable() ?? shared(),
    after: async (refused) => {
      // Nobody else should try the refused one while its successor is being fetched.
      if (last?.generation === refused.generation)
        last = { ...last, usableUntil: Number.NEGATIVE_INFINITY };
      const successor = usable();
      return successor && successor.generation > refused.generation ? successor : shared();
    },
    get last() {
      return last;
    },
  };
};

/** An extra token does no harm, so every temporary failure may be repeated. */
const mayAskAgain = (error: unknown): boolean =>
  isConversationError(error, "UNREACHABLE", "TIMED_OUT", "UNAVAILABLE") && !error.details.permanent;

/**
 * Errors from the transport may quote the credentials. The effect is always `none`: the operation
 * that needs the token was not sent.
 */
const tokenFailure = (
  { settings, secrets }: Pick<TokenParts, "settings" | "secrets">,
  error: unknown,
): unknown => {
  if (!(error instanceof TransportFailure)) return foreignError(error, secrets);
  const { code, text, details } = connectionFault(error, settings.tokenUrl);
  const message = `Could not fetch an access token: ${text}.`;
  return new ConversationError(code, message, { ...tokenEndpoint, ...details });
};

const asked = async (parts: TokenParts): Promise<TokenGrant> => {
  const { settings, transport, pace, signal } = parts;
  const request = tokenRequest(settings, parts.headers);
  const send = async (): Promise<HttpResponse> => {
    try {
      return await transport.send(request);
    } catch (error) {
      throw tokenFailure(parts, error);
    }
  };
  const response = await pace(tokenEndpoint, send, signal);
  const { status, broken } = response;
  if (broken && status >= 200 && status <= 299) {
    throw tokenFailure(parts, new TransportFailure(true, broken));
  }
  return grantOf(settings, response);
};

/** The source of the token that all calls share, fetched from the token URL when needed. */
export const tokenSource = (parts: TokenParts): AccessTokens => {
  const { retry: limits = {}, signal, clock, onRepeat } = parts;
  const options = { limits, signal, clock, onRepeat };
  const fetchGrant = () => withRetry(() => asked(parts), mayAskAgain, options);
  return accessTokens(fetchGrant, clock);
};

/** A token granted by the token URL. */
export interface TokenGrant {
  readonly accessToken: string;
  /** Lifetime in seconds from receipt. Absent if the token URL did not report it. */
  readonly expiresIn?: number;
  /** Granted scopes, if the token URL reports them. */
  readonly scopes?: readonly string[];
}

/** The endpoint that represents the token URL in messages, waits, and statistics. */
export const tokenEndpoint: Endpoint = { method: "POST", template: "token URL" };

/** The token request: client credentials as form fields (public reference). */
export const tokenRequest = (
  settings: Settings,
  headers: Readonly<Record<string, string>>,
): HttpRequest => ({
  method: "POST",
  url: settings.tokenUrl,
  headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
  body: new URLSearchParams({
    grant_type: "client_credentials",
    scope: settings.scope,
    client_id: settings.clientId,
    client_secret: settings.clientSecret,
  }).toString(),
});

/** The settings to check first, by OAuth error code (RFC 6749 §5.2). */
const suspects: Readonly<Record<string, readonly SettingKey[]>> = {
  invalid_client: ["clientId", "clientSecret"],
  invalid_scope: ["scope"],
  unauthorized_client: ["clientId", "tokenUrl"],
  unsupported_grant_type: ["tokenUrl"],
};

const fallbackSuspects: readonly SettingKey[] = ["clientId", "clientSecret", "scope", "tokenUrl"];

/**
 * What to set if the token URL does not know the scope: the form of the other kind of tenant, each
 * of which knows only its own (vendor's description).
 */
const otherScope = (settings: Settings): string => {
  const label = settingLabel("scope", settings.profile);
  const commercial = commercialScope(settings.baseUrl);
  return settings.scope === commercial
    ? ` A self-service tenant (token URL …/system/auth/<tenant>-U/oauth2/token) has short scope names: remove the value of ${label}, as these are the default.`
    : ` A commercial tenant (token URL …/global/<gateway id>/oauth2/v2.0/token) has exactly one scope: set ${label} to ${commercial}.`;
};

const oauthError = (body: unknown): string =>
  isObject(body) && typeof body.error === "string" && /^[\w.-]{1,64}$/.test(body.error)
    ? body.error
    : "";

const oauthText = (body: unknown, settings: Settings): string => {
  const text = isObject(body) ? body.error_description : undefined;
  return typeof text === "string" ? shownText(text, clientSecrets(settings)) : "";
};

const fail = (
  code: "CREDENTIALS_REFUSED" | "THROTTLED" | "UNAVAILABLE" | "BAD_RESPONSE",
  message: string,
  details: ErrorDetails,
): ConversationError => new ConversationError(code, message, { ...tokenEndpoint, ...details });

const refused = (settings: Settings, { status, text }: HttpResponse): ConversationError => {
  const body = jsonIn(text);
  // A service may echo the credential as its error code: it must not get into a message.
  const error = shownText(oauthError(body), clientSecrets(settings));
  const description = oauthText(body, settings);
  const keys = suspects[error] ?? fallbackSuspects;
  const check = keys.map((key) => settingLabel(key, settings.profile)).join(", ");
  const expires = keys.includes("clientSecret") ? "; the secret may have expired" : "";
  const other = error === "invalid_scope" ? otherScope(settings) : "";
  const said = [error, description].filter(Boolean).join(": ");
  return fail(
    "CREDENTIALS_REFUSED",
    `The token URL refused the client credentials (${status}${said === "" ? "" : `, ${said}`}). Check ${check}${expires}.${other}`,
    { status, ...(error === "" ? {} : { serviceCode: error }) },
  );
};

const failed = (settings: Settings, response: HttpResponse): ConversationError => {
  const { status } = response;
  const label = settingLabel("tokenUrl", settings.profile);
  if (status === 400 || status === 401 || status === 403) return refused(settings, response);
  if (status === 429 || status >= 500) {
    const code = status === 429 ? "THROTTLED" : "UNAVAILABLE";
    return fail(code, `The token request failed (${status}). Try again later.`, { status });
  }
  const what =
    status < 400 ? `${status}, a redirect, which the client does not follow` : `${status}`;
  return fail(
    // Not REJECTED: nothing was wrong with the call that needs the token.
    status < 400 ? "BAD_RESPONSE" : "CREDENTIALS_REFUSED",
    `The token URL did not accept the request (${what}). Check ${label}.`,
    { status, permanent: true },
  );
};

const secondsOf = (value: unknown): number | undefined => {
  const seconds = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof seconds === "number" && seconds >= 0 && Number.isFinite(seconds)
    ? seconds
    : undefined;
};

/**
 * The token in a response from the token URL.
 *
 * @throws ConversationError `CREDENTIALS_REFUSED`, `THROTTLED`, `UNAVAILABLE`, or `BAD_RESPONSE`
 */
export const grantOf = (settings: Settings, response: HttpResponse): TokenGrant => {
  if (response.status < 200 || response.status > 299) throw failed(settings, response);
  const body = jsonIn(response.text);
  const token = isObject(body) ? body.access_token : undefined;
  // Other characters are not allowed in a header.
  if (!isObject(body) || typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)) {
    throw fail(
      "BAD_RESPONSE",
      `The response from the token URL has no usable access_token. Check ${settingLabel("tokenUrl", settings.profile)}.`,
      { status: response.status, permanent: true },
    );
  }
  const expiresIn = secondsOf(body.expires_in);
  return {
    accessToken: token,
    ...(expiresIn === undefined ? {} : { expiresIn }),
    ...(typeof body.scope === "string" ? { scopes: body.scope.split(/\s+/).filter(Boolean) } : {}),
  };
};
