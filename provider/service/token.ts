import type { Clock } from "../kernel/clock.js";
import { ConversationError, type ErrorDetails, isConversationError } from "../kernel/errors.js";
import { isObject, type JsonObject, jsonIn } from "../kernel/json.js";
import { type CallEvent, type ObservedCall, observeAttempt, sendInItsTurn } from "./call-events.js";
import type { Endpoint, Pace } from "./pace.js";
import { clientSecrets, foreignError, shownText } from "./redaction.js";
import { type RetryLimits, withRetry } from "./retry.js";
import { commercialScope, type SettingKey, type Settings, settingLabel } from "./settings.js";
import {
  connectionFault,
  type HttpRequest,
  type HttpResponse,
  type Transport,
  TransportFailure,
} from "./transport.js";

/** The parts that all calls on one connection share. */
export interface TokenParts {
  readonly settings: Settings;
  /** The client's credentials, in every form that messages must not show. */
  readonly secrets: readonly string[];
  readonly transport: Transport;
  readonly pace: Pace;
  readonly clock: Clock;
  /** Headers sent with every call. */
  readonly headers: Readonly<Record<string, string>>;
  readonly retry?: Partial<RetryLimits> | undefined;
  readonly onEvent: (event: CallEvent) => void;
  /** Cancels all calls, except writes that have already been sent. */
  readonly signal: AbortSignal;
}

/** An access token. */
export interface AccessToken {
  readonly value: string;
  /**
   * The token's sequence number in this process. It distinguishes a refused token from its
   * successor.
   */
  readonly generation: number;
  readonly scopes?: readonly string[];
  /** Time on the monotonic clock, in milliseconds, after which the token is no longer used. */
  readonly usableUntil: number;
}

/** One token, shared by all calls. */
export interface AccessTokens {
  /** The token in use; fetched for this call if there is none or if it is about to expire. */
  current(call?: ObservedCall): AccessToken | Promise<AccessToken>;
  /**
   * A token other than the one that the service has just refused; all refused callers share one
   * fetch.
   */
  after(refused: AccessToken, call: ObservedCall): Promise<AccessToken>;
  /** The last token, if any was fetched. */
  readonly last: AccessToken | undefined;
}

/** The endpoint that represents the token URL in messages, waits, and statistics. */
export const tokenEndpoint: Endpoint = { method: "POST", template: "token URL" };

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

/** Returns the token that all calls share, judged by its lifetime and the monotonic clock. */
export const accessTokens = (parts: TokenParts): AccessTokens => {
  const { clock } = parts;
  let last: AccessToken | undefined;
  let pending: Promise<AccessToken> | undefined;

  const fetchToken = async (call?: ObservedCall): Promise<AccessToken> => {
    const { accessToken, expiresIn, scopes } = await fetchGrant(parts, call);
    last = {
      value: accessToken,
      generation: (last?.generation ?? 0) + 1,
      usableUntil: clock.now() + usableMs(expiresIn),
      ...(scopes ? { scopes } : {}),
    };
    return last;
  };

  /** A failure reaches every waiting caller. */
  const fetchShared = (call?: ObservedCall): Promise<AccessToken> => {
    pending ??= fetchToken(call).finally(() => {
      pending = undefined;
    });
    return pending;
  };

  const findUsable = (): AccessToken | undefined =>
    last && clock.now() < last.usableUntil ? last : undefined;

  return {
    current: (call) => findUsable() ?? fetchShared(call),
    after: async (refused, call) => {
      // Nobody else should try the refused one while its successor is being fetched.
      if (last?.generation === refused.generation)
        last = { ...last, usableUntil: Number.NEGATIVE_INFINITY };
      const successor = findUsable();
      return successor && successor.generation > refused.generation ? successor : fetchShared(call);
    },
    get last() {
      return last;
    },
  };
};

/** An extra token does no harm, so every temporary failure may be repeated. */
const mayAskAgain = (error: unknown): boolean =>
  isConversationError(error, "UNREACHABLE", "TIMED_OUT", "UNAVAILABLE") && !error.details.permanent;

/** A token granted by the token URL. */
export interface TokenGrant {
  readonly accessToken: string;
  /** Lifetime in seconds from receipt. Absent if the token URL did not report it. */
  readonly expiresIn?: number;
  /** Granted scopes, if the token URL reports them. */
  readonly scopes?: readonly string[];
}

/**
 * Asks the token URL for a token, in its turn, and repeats that after a temporary failure. The
 * effect of a failure is always `none`: the operation that needs the token was not sent.
 */
const fetchGrant = (parts: TokenParts, tokenFor?: ObservedCall): Promise<TokenGrant> => {
  const { settings, secrets, signal, clock, retry: limits = {}, onEvent } = parts;
  const { hostname } = new URL(settings.tokenUrl);
  const request = tokenRequest(settings, parts.headers);
  const call: ObservedCall = { ...tokenEndpoint, ...(tokenFor ? { tokenFor } : {}) };
  let attempt = 0;
  const lostConnection = (failure: Pick<TransportFailure, "cause" | "sent" | "proxy">) => {
    const { code, text, details } = connectionFault(failure, settings.tokenUrl);
    return tokenError(code, `Could not fetch an access token: ${text}.`, details);
  };
  const send = async (): Promise<HttpResponse> => {
    attempt += 1;
    try {
      return await observeAttempt(onEvent, { call, attempt }, hostname, () =>
        parts.transport.send(request),
      );
    } catch (error) {
      if (error instanceof TransportFailure) throw lostConnection(error);
      // An error of the transport may quote the credentials.
      throw foreignError(error, secrets);
    }
  };
  const askOnce = async (): Promise<TokenGrant> => {
    const response = await sendInItsTurn(parts, call, send, signal);
    const { status, broken } = response;
    if (broken && status >= 200 && status <= 299)
      throw lostConnection({ sent: true, cause: broken });
    return readGrant(settings, response);
  };
  return withRetry(askOnce, mayAskAgain, {
    limits,
    signal,
    clock,
    onRepeat: (error, longestMs) => onEvent({ type: "repeating", call, error, longestMs }),
  });
};

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

const tokenError = (
  code: ConversationError["code"],
  message: string,
  details: ErrorDetails,
): ConversationError => new ConversationError(code, message, { ...tokenEndpoint, ...details });

/**
 * The token in a response from the token URL.
 *
 * @throws ConversationError `CREDENTIALS_REFUSED`, `THROTTLED`, `UNAVAILABLE`, or `BAD_RESPONSE`
 */
export const readGrant = (settings: Settings, response: HttpResponse): TokenGrant => {
  const { status } = response;
  const parsed = jsonIn(response.text);
  const body = isObject(parsed) ? parsed : {};
  if (status < 200 || status > 299) throw refusedGrant(settings, status, body);
  const { access_token: token, scope } = body;
  // Other characters are not allowed in a header.
  if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)) {
    throw tokenError(
      "BAD_RESPONSE",
      `The response from the token URL has no usable access_token. Check ${settingLabel("tokenUrl", settings.profile)}.`,
      { status, permanent: true },
    );
  }
  const expiresIn = readSeconds(body.expires_in);
  return {
    accessToken: token,
    ...(expiresIn === undefined ? {} : { expiresIn }),
    ...(typeof scope === "string" ? { scopes: scope.split(/\s+/).filter(Boolean) } : {}),
  };
};

const readSeconds = (value: unknown): number | undefined => {
  const seconds = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof seconds === "number" && seconds >= 0 && Number.isFinite(seconds)
    ? seconds
    : undefined;
};

/** The error for an answer of the token URL that is not 2xx. */
const refusedGrant = (settings: Settings, status: number, body: JsonObject): ConversationError => {
  if (status === 400 || status === 401 || status === 403)
    return refusedCredentials(settings, status, body);
  if (status === 429 || status >= 500) {
    const code = status === 429 ? "THROTTLED" : "UNAVAILABLE";
    return tokenError(code, `The token request failed (${status}). Try again later.`, { status });
  }
  const isRedirect = status < 400;
  const what = isRedirect ? `${status}, a redirect, which the client does not follow` : status;
  return tokenError(
    // Not REJECTED: nothing was wrong with the call that needs the token.
    isRedirect ? "BAD_RESPONSE" : "CREDENTIALS_REFUSED",
    `The token URL did not accept the request (${what}). Check ${settingLabel("tokenUrl", settings.profile)}.`,
    { status, permanent: true },
  );
};

/** The settings to check first, by OAuth error code (RFC 6749 §5.2). */
const suspects: Readonly<Record<string, readonly SettingKey[]>> = {
  invalid_client: ["clientId", "clientSecret"],
  invalid_scope: ["scope"],
  unauthorized_client: ["clientId", "tokenUrl"],
  unsupported_grant_type: ["tokenUrl"],
};

const fallbackSuspects: readonly SettingKey[] = ["clientId", "clientSecret", "scope", "tokenUrl"];

const refusedCredentials = (
  settings: Settings,
  status: number,
  body: JsonObject,
): ConversationError => {
  // A service may echo the credential as its error code: it must not get into a message.
  const show = (value: unknown): string =>
    typeof value === "string" ? shownText(value, clientSecrets(settings)) : "";
  const isCode = /^[\w.-]{1,64}$/.test(String(body.error));
  const error = isCode ? show(body.error) : "";
  const keys = suspects[error] ?? fallbackSuspects;
  const check = keys.map((key) => settingLabel(key, settings.profile)).join(", ");
  const expires = keys.includes("clientSecret") ? "; the secret may have expired" : "";
  const other = error === "invalid_scope" ? adviseOtherScope(settings) : "";
  const said = [error, show(body.error_description)].filter(Boolean).join(": ");
  return tokenError(
    "CREDENTIALS_REFUSED",
    `The token URL refused the client credentials (${status}${said === "" ? "" : `, ${said}`}). Check ${check}${expires}.${other}`,
    { status, ...(error === "" ? {} : { serviceCode: error }) },
  );
};

/**
 * What to set if the token URL does not know the scope: the form of the other kind of tenant, each
 * of which knows only its own (vendor's description).
 */
const adviseOtherScope = (settings: Settings): string => {
  const label = settingLabel("scope", settings.profile);
  const commercial = commercialScope(settings.baseUrl);
  return settings.scope === commercial
    ? ` A self-service tenant (token URL …/system/auth/<tenant>-U/oauth2/token) has short scope names: remove the value of ${label}, as these are the default.`
    : ` A commercial tenant (token URL …/global/<gateway id>/oauth2/v2.0/token) has exactly one scope: set ${label} to ${commercial}.`;
};
