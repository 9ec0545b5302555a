import type { Clock } from "../kernel/clock.js";
import { ConversationError, type ErrorDetails } from "../kernel/errors.js";
import { isObject, type JsonObject, jsonIn, withoutUndefined } from "../kernel/json.js";
import type { Pace } from "./pace.js";
import { clientSecrets, foreignError, shownText } from "./redaction.js";
import { type RetryLimits, repeatIfHarmless } from "./retry.js";
import { commercialScope, type SettingKey, type Settings, settingLabel } from "./settings.js";
import {
  type CallEvent,
  connectionFault,
  type Endpoint,
  type HttpRequest,
  type HttpResponse,
  observeAttempt,
  type ServiceTime,
  type Transport,
  TransportFailure,
} from "./transport.js";

/** The parts that all calls on one connection share. */
export interface ConnectionParts {
  readonly settings: Settings;
  /** The client's credentials, in every form that messages must not show. */
  readonly secrets: readonly string[];
  readonly transport: Transport;
  readonly pace: Pace;
  readonly clock: Clock;
  readonly time: ServiceTime;
  /** Headers sent with every call. */
  readonly headers: Readonly<Record<string, string>>;
  readonly retry?: Partial<RetryLimits> | undefined;
  readonly onEvent: (event: CallEvent) => void;
  /** Cancels all calls, except writes that have already been sent. */
  readonly signal: AbortSignal;
}

export interface AccessToken {
  readonly value: string;
  /** Granted scopes, if the token URL reports them. */
  readonly scopes: readonly string[] | undefined;
  /** Time on the monotonic clock, in milliseconds, after which the token is no longer used. */
  readonly usableUntil: number;
}

/** One token, shared by all calls. */
export interface AccessTokens {
  /** The token in use; fetched if there is none or if it is about to expire. */
  current(): AccessToken | Promise<AccessToken>;
  /**
   * A token other than the one that the service has just refused; all refused callers share one
   * fetch.
   */
  after(refused: AccessToken): AccessToken | Promise<AccessToken>;
  /** The last token, if any was fetched. */
  readonly last: AccessToken | undefined;
}

/** The endpoint that represents the token URL in messages, waits, and statistics. */
export const tokenEndpoint: Endpoint = { method: "POST", template: "token URL" };

const assumedLifetimeS = 300;

const longestMarginMs = 60_000;

/**
 * A token is used until 60 s before it expires, or until a tenth of its life is left if that is
 * shorter. One that has already expired serves the calls that wait for it.
 */
const usableMs = (expiresIn = assumedLifetimeS): number => {
  const lifetimeMs = expiresIn * 1000;
  return lifetimeMs - Math.min(longestMarginMs, lifetimeMs / 10);
};

/** Returns the token that all calls share, judged by its lifetime and the monotonic clock. */
export const accessTokens = (parts: ConnectionParts): AccessTokens => {
  const { clock } = parts;
  let last: AccessToken | undefined;
  let pending: Promise<AccessToken> | undefined;

  const fetchToken = async (): Promise<AccessToken> => {
    try {
      const { accessToken, expiresIn, scopes } = await fetchGrant(parts);
      const usableUntil = clock.now() + usableMs(expiresIn);
      last = { value: accessToken, scopes, usableUntil };
      return last;
    } finally {
      pending = undefined;
    }
  };

  const current: AccessTokens["current"] = () => {
    if (last && clock.now() < last.usableUntil) return last;
    // A failure reaches every waiting caller.
    pending ??= fetchToken();
    return pending;
  };

  return {
    current,
    after: (refused) => {
      // Nobody else should try the refused one while its successor is being fetched.
      if (last === refused) last = undefined;
      return current();
    },
    get last() {
      return last;
    },
  };
};

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
const fetchGrant = async (parts: ConnectionParts): Promise<TokenGrant> => {
  const { settings, secrets, signal, retry: limits, onEvent, transport } = parts;
  const request = tokenRequest(settings, parts.headers);
  const call: Endpoint = { ...tokenEndpoint };
  let attempt = 0;
  const send = async (): Promise<HttpResponse> => {
    attempt += 1;
    try {
      return await observeAttempt(onEvent, { call, attempt }, () => transport.send(request));
    } catch (error) {
      if (error instanceof TransportFailure) throw lostToken(settings, error);
      // An error of the transport may quote the credentials.
      throw foreignError(error, secrets);
    }
  };
  const askOnce = async (): Promise<TokenGrant> =>
    readGrant(settings, await parts.pace(call, send, signal));
  try {
    return await askOnce();
  } catch (error) {
    const onRepeat = (failure: unknown): void =>
      onEvent({ type: "repeating", call, error: failure });
    return repeatIfHarmless(error, askOnce, { endpoint: call, limits, signal, onRepeat });
  }
};

/** The token request: client credentials as form fields (public reference). */
const tokenRequest = (
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

const lostToken = (
  settings: Settings,
  failure: Parameters<typeof connectionFault>[0],
): ConversationError => {
  const { code, text, details } = connectionFault(failure, settings.tokenUrl);
  return tokenError(code, `Could not fetch an access token: ${text}.`, details);
};

/**
 * The token in a response from the token URL.
 *
 * @throws ConversationError `CREDENTIALS_REFUSED`, `THROTTLED`, `UNAVAILABLE`, or `BAD_RESPONSE`
 */
export const readGrant = (settings: Settings, response: HttpResponse): TokenGrant => {
  const { status, broken: cause } = response;
  const parsed = jsonIn(response.text);
  const body = isObject(parsed) ? parsed : {};
  if (status < 200 || status > 299) throw refusedGrant(settings, status, body);
  if (cause) throw lostToken(settings, { sent: true, cause });
  const { access_token: accessToken, scope } = body;
  // Other characters are not allowed in a header.
  if (typeof accessToken !== "string" || !/^[\x21-\x7e]+$/.test(accessToken)) {
    throw tokenError(
      "BAD_RESPONSE",
      `The response from the token URL has no usable access_token. Check ${settingLabel("tokenUrl", settings.profile)}.`,
      { status, permanent: true },
    );
  }
  const expiresIn = Number.parseFloat(String(body.expires_in));
  return {
    accessToken,
    ...withoutUndefined({
      expiresIn: expiresIn >= 0 && Number.isFinite(expiresIn) ? expiresIn : undefined,
      scopes: typeof scope === "string" ? scope.split(/\s+/).filter(Boolean) : undefined,
    }),
  };
};

/** The settings to check first, by OAuth error code (RFC 6749 §5.2). */
const suspects: Readonly<Record<string, readonly SettingKey[]>> = {
  invalid_client: ["clientId", "clientSecret"],
  invalid_scope: ["scope"],
  unauthorized_client: ["clientId", "tokenUrl"],
};

const fallbackSuspects: readonly SettingKey[] = ["clientId", "clientSecret", "scope", "tokenUrl"];

/** The error for an answer of the token URL that is not 2xx. */
const refusedGrant = (settings: Settings, status: number, body: JsonObject): ConversationError => {
  const { profile } = settings;
  if (status === 429 || status >= 500) {
    const code = status === 429 ? "THROTTLED" : "UNAVAILABLE";
    return tokenError(code, `The token request failed (${status}). Try again later.`, { status });
  }
  if (status < 400) {
    const text = `The token URL redirects (${status}), which the client does not follow. Check ${settingLabel("tokenUrl", profile)}.`;
    return tokenError("BAD_RESPONSE", text, { status, permanent: true });
  }
  // A service may echo the credential as its error code: it must not get into a message.
  const show = (value: unknown): string =>
    typeof value === "string" ? shownText(value, clientSecrets(settings)) : "";
  const isCode = /^[\w.-]{1,64}$/.test(String(body.error));
  const error = isCode ? show(body.error) : "";
  const keys = suspects[error] ?? fallbackSuspects;
  const check = keys.map((key) => settingLabel(key, profile)).join(", ");
  const expires = keys.includes("clientSecret") ? "; the secret may have expired" : "";
  // Each kind of tenant knows only its own form (vendor's description).
  const forms = `A commercial tenant (token URL …/oauth2/v2.0/token) has exactly one scope, ${commercialScope(settings.baseUrl)}; a self-service tenant has short scope names, which are the default.`;
  const said = [String(status), [error, show(body.error_description)].filter(Boolean).join(": ")];
  return tokenError(
    "CREDENTIALS_REFUSED",
    `The token URL refused the client credentials (${said.filter(Boolean).join(", ")}). Check ${check}${expires}.${error === "invalid_scope" ? ` ${forms}` : ""}`,
    { status, ...(error === "" ? {} : { serviceCode: error }) },
  );
};
