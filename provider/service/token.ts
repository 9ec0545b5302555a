import type { Clock } from "../kernel/clock.js";
import { ConversationError, type ErrorDetails, isConversationError } from "../kernel/errors.js";
import { isObject, jsonIn } from "../kernel/json.js";
import type { Endpoint } from "./http/operations.js";
import type { Pace } from "./http/pace.js";
import { type OnRepeat, type RetryLimits, withRetry } from "./http/retry.js";
import {
  connectionFault,
  type HttpRequest,
  type HttpResponse,
  type Transport,
  TransportFailure,
} from "./http/transport.js";
import { foreignError, shownText } from "./redaction.js";
import { clientSecrets } from "./secret-texts.js";
import type { SettingKey, Settings } from "./setting-table.js";
import { settingLabel } from "./settings.js";

/** A token in use. */
export interface AccessToken {
  readonly value: string;
  /** Counts the tokens of this process, so that a refused token is distinguished from its successor. */
  readonly generation: number;
  readonly scopes?: readonly string[];
  /** On the monotonic clock, in milliseconds: not used from then on. */
  readonly usableUntil: number;
}

/** One token, shared by all calls. */
export interface AccessTokens {
  /** The token in use; fetched if there is none or if it is about to expire. */
  current(): Promise<AccessToken>;
  /** A token other than the one the service has just refused; all who were refused share one fetch. */
  after(refused: AccessToken): Promise<AccessToken>;
  /** The last token, if any was fetched. */
  readonly last: AccessToken | undefined;
}

const assumedLifetimeS = 300;

const longestMarginMs = 60_000;

/** A token is given up 60 s before it expires, or a tenth of its life where that is shorter. */
const usableMs = (expiresIn = assumedLifetimeS): number => {
  const lifetimeMs = expiresIn * 1000;
  return lifetimeMs - Math.min(longestMarginMs, lifetimeMs / 10);
};

/**
 * Keeps one token, judged by the lifetime it was granted with and the monotonic clock.
 *
 * @param fetchGrant asks the token address; its failures reach everybody who waits
 */
export const accessTokens = (fetchGrant: () => Promise<TokenGrant>, clock: Clock): AccessTokens => {
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
    current: async () => usable() ?? shared(),
    after: async (refused) => {
      // Nobody else should try the refused one while its successor is on the way.
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

/** What every call of one connection shares. */
export interface TokenParts {
  readonly settings: Settings;
  /** The client's credentials, in every form that no message may show. */
  readonly secrets: readonly string[];
  readonly transport: Transport;
  readonly pace: Pace;
  readonly clock: Clock;
  /** Of every call. */
  readonly headers: Readonly<Record<string, string>>;
  readonly retry?: Partial<RetryLimits>;
  readonly onRepeat?: OnRepeat;
  /** Ends all waiting of all calls. */
  readonly signal: AbortSignal;
}

/** A token too many does no harm, so every passing failure may be repeated. */
const mayAskAgain = (error: unknown): boolean =>
  isConversationError(error, "UNREACHABLE", "TIMED_OUT", "UNAVAILABLE") && !error.details.permanent;

/**
 * What goes wrong inside the transport may quote the credentials. The effect is `none` throughout: the
 * operation that wants the token was not sent.
 */
const tokenFailure = ({ settings, secrets }: TokenParts, error: unknown): unknown => {
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

/** The one token of a service, fetched from its token address on first use. */
export const tokenSource = (parts: TokenParts): AccessTokens => {
  const { retry: limits = {}, signal, clock, onRepeat } = parts;
  const options = { limits, signal, clock, onRepeat };
  const fetchGrant = () => withRetry(() => asked(parts), mayAskAgain, options);
  return accessTokens(fetchGrant, clock);
};

/** A token as the token address granted it. */
export interface TokenGrant {
  readonly accessToken: string;
  /** Seconds, counted from receipt. Left out: the token address did not say. */
  readonly expiresIn?: number;
  /** Scopes granted, where the token address says. */
  readonly scopes?: readonly string[];
}

/** How the token call is named in messages, waits and statistics. */
export const tokenEndpoint: Endpoint = { method: "POST", template: "token address" };

/** The token call: client credentials as form fields (public reference). */
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

/** What to look at first, by OAuth error code (RFC 6749 §5.2). */
const suspects: Readonly<Record<string, readonly SettingKey[]>> = {
  invalid_client: ["clientId", "clientSecret"],
  invalid_scope: ["scope"],
  unauthorized_client: ["clientId", "tokenUrl"],
  unsupported_grant_type: ["tokenUrl"],
};

const fallbackSuspects: readonly SettingKey[] = ["clientId", "clientSecret", "scope", "tokenUrl"];

const oauthError = (body: unknown): string =>
  isObject(body) && typeof body.error === "string" && /^[\w.-]{1,64}$/.test(body.error)
    ? body.error
    : "";

const oauthText = (body: unknown, settings: Settings): string => {
  const text = isObject(body) ? body.error_description : undefined;
  return typeof text === "string" ? shownText(text, clientSecrets(settings)) : "";
};

const fail = (
  code: "CREDENTIALS_REFUSED" | "REJECTED" | "UNAVAILABLE" | "BAD_RESPONSE",
  message: string,
  details: ErrorDetails,
): ConversationError => new ConversationError(code, message, { ...tokenEndpoint, ...details });

const refused = (settings: Settings, { status, text }: HttpResponse): ConversationError => {
  const body = jsonIn(text);
  // A service that echoes the credential as its error code must not get it into a message.
  const error = shownText(oauthError(body), clientSecrets(settings));
  const description = oauthText(body, settings);
  const keys = suspects[error] ?? fallbackSuspects;
  const check = keys.map((key) => settingLabel(key, settings.profile)).join(", ");
  const expires = keys.includes("clientSecret") ? "; a client secret also expires" : "";
  const said = [error, description].filter(Boolean).join(": ");
  return fail(
    "CREDENTIALS_REFUSED",
    `The token address refused the client credentials (${status}${said === "" ? "" : `, ${said}`}). Check ${check}${expires}.`,
    { status, ...(error === "" ? {} : { serviceCode: error }) },
  );
};

const failed = (settings: Settings, response: HttpResponse): ConversationError => {
  const { status } = response;
  const label = settingLabel("tokenUrl", settings.profile);
  if (status === 400 || status === 401 || status === 403) return refused(settings, response);
  if (status >= 500) {
    return fail("UNAVAILABLE", `The token address failed (${status}). Run again later.`, {
      status,
    });
  }
  const what = status < 400 ? `${status}, redirected, not followed` : `${status}`;
  return fail(
    status < 400 ? "BAD_RESPONSE" : "REJECTED",
    `The token address did not take the call (${what}). Check ${label}.`,
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
 * The token in an answer of the token address.
 *
 * @throws ConversationError `CREDENTIALS_REFUSED`, `UNAVAILABLE`, `REJECTED` or `BAD_RESPONSE`
 */
export const grantOf = (settings: Settings, response: HttpResponse): TokenGrant => {
  if (response.status < 200 || response.status > 299) throw failed(settings, response);
  const body = jsonIn(response.text);
  const token = isObject(body) ? body.access_token : undefined;
  // Anything else would not fit into a header.
  if (!isObject(body) || typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token)) {
    throw fail(
      "BAD_RESPONSE",
      `The answer of the token address holds no usable access_token. Check ${settingLabel("tokenUrl", settings.profile)}.`,
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
