import { ConversationError, type ErrorDetails } from "../../kernel/errors.js";
import { isObject } from "../../kernel/json.js";
import { jsonIn } from "../../kernel/json-text.js";
import type { Endpoint } from "../http/operations.js";
import type { HttpRequest, HttpResponse } from "../http/transport.js";
import { shownText } from "../redaction/redaction.js";
import { clientSecrets } from "../redaction/secret-texts.js";
import type { Settings } from "../settings/setting-table.js";
import { type SettingKey, settingLabel } from "../settings/settings.js";

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
