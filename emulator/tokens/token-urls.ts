import { hash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  HttpError,
  readBytes,
  responseOf,
  type ServiceResponse,
  sendResponse,
} from "../http/exchange.js";
import type { TokenClaims, Tokens } from "../service/access.js";
import { type CallLog, keptAnswer, logCall } from "../service/calls.js";
import type { EmulatorClock } from "../service/clock.js";
import { beforeOperation, type Faults, sendWithFault } from "../service/faults.js";
import type { Clients } from "./clients.js";

/** What the token and authorization URLs need. */
interface TokensHub {
  readonly clock: EmulatorClock;
  readonly clients: Clients;
  readonly tokens: Tokens;
  readonly faults: Faults;
  readonly log: CallLog;
}

const tokenLifetimeSeconds = 3_600;

/** An error of the token or authorization URL, with its code (RFC 6749 §5.2). */
class OAuthError extends HttpError {
  override readonly name = "OAuthError";

  constructor(code: string, description: string, status = 400) {
    super(status, code, description);
  }

  override response(): ServiceResponse {
    return {
      status: this.status,
      body: { error: this.code, error_description: this.message },
      headers: { "cache-control": "no-store" },
    };
  }
}

/** Reads required parameters. @throws OAuthError if a parameter appears twice */
const requiredParameters = (parameters: URLSearchParams): ((name: string) => string) => {
  const names = [...parameters.keys()];
  // Without its name: one that nobody knows may be a secret in the wrong place.
  if (new Set(names).size < names.length)
    throw new OAuthError("invalid_request", "a parameter appears twice");
  return (name) => {
    const value = parameters.get(name);
    if (!value) throw new OAuthError("invalid_request", `${name} is missing`);
    return value;
  };
};

/**
 * The requested scopes that are granted; one that ends in `.default` requests all, so that a program
 * with the settings of a commercial tenant runs here, too.
 */
const grantedScopes = (asked: string, granted: readonly string[]): readonly string[] => {
  const words = asked.split(" ").filter(Boolean);
  const scopes = words.some((word) => word.endsWith(".default"))
    ? granted
    : granted.filter((scope) => words.includes(scope));
  if (scopes.length === 0)
    throw new OAuthError("invalid_scope", "the client has none of the requested scopes");
  return scopes;
};

const redirectTo = (address: string, parameters: Readonly<Record<string, string | null>>) => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== null) query.append(name, value);
  // Concatenated by hand, so that the registered address stays exactly as it is.
  const location = `${address}${address.includes("?") ? "&" : "?"}${query}`;
  return { status: 302, headers: { location, "cache-control": "no-store" } };
};

/** The scopes and the challenge for a code. */
const codeRequest = (query: URLSearchParams, allowed: readonly string[]) => {
  const required = requiredParameters(query);
  const [type, scope] = [required("response_type"), required("scope")];
  const [challenge, method] = [required("code_challenge"), required("code_challenge_method")];
  if (type !== "code")
    throw new OAuthError("unsupported_response_type", "response_type must be code");
  if (method !== "S256")
    throw new OAuthError("invalid_request", "code_challenge_method must be S256");
  if (!/^[A-Za-z0-9_-]{43}$/.test(challenge))
    throw new OAuthError("invalid_request", "code_challenge must be an S256 challenge");
  return { scopes: grantedScopes(scope, allowed), challenge };
};

/** A parameter that is given exactly once; empty otherwise. */
const once = (query: URLSearchParams, name: string): string => {
  const [value = "", ...more] = query.getAll(name);
  return more.length === 0 ? value : "";
};

/**
 * Serves the authorization URL (specification §5.3). Approves every valid request immediately,
 * because this is an emulator.
 *
 * @throws OAuthError if the client or the redirect URI is wrong; in that case, there is no redirect
 */
export const authorize = (
  { clients, tokens }: TokensHub,
  query: URLSearchParams,
): ServiceResponse => {
  const clientId = once(query, "client_id");
  const redirectUri = once(query, "redirect_uri");
  const wrong = (name: string, rule: string): OAuthError =>
    new OAuthError("invalid_request", `${name} is missing, appears more than once, or ${rule}`);
  const client = clients.get(clientId);
  if (!client?.public) throw wrong("client_id", "does not identify a public client");
  if (!client.redirectUris?.includes(redirectUri))
    throw wrong("redirect_uri", "is not registered for the client");
  const state = query.get("state");
  try {
    const asked = codeRequest(query, client.scopes);
    const code = tokens.issueCode({ ...asked, clientId, subject: "user", redirectUri });
    return redirectTo(redirectUri, { code, state });
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    return redirectTo(redirectUri, { error: error.code, error_description: error.message, state });
  }
};

type Required = (name: string) => string;

const byCredentials = ({ clients }: TokensHub, required: Required): TokenClaims => {
  const [id, secret, scope] = [required("client_id"), required("client_secret"), required("scope")];
  const client = clients.withSecret(id, secret);
  if (!client)
    throw new OAuthError("invalid_client", "the client is unknown or its secret is wrong", 401);
  return { clientId: id, scopes: grantedScopes(scope, client.scopes), subject: "client" };
};

/** The second part of the code flow: specification §5.3. */
const byCode = ({ clients, tokens }: TokensHub, required: Required) => {
  const [code, redirectUri] = [required("code"), required("redirect_uri")];
  const [id, verifier] = [required("client_id"), required("code_verifier")];
  if (!clients.get(id)?.public)
    throw new OAuthError("invalid_client", "the client is unknown or not public", 401);
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) {
    const rule = "code_verifier must have 43 to 128 unreserved characters";
    throw new OAuthError("invalid_request", rule);
  }
  const claims = tokens.redeem(code);
  const fits =
    claims?.clientId === id &&
    claims.redirectUri === redirectUri &&
    claims.challenge === hash("sha256", verifier, "base64url");
  if (!fits) {
    const reason = "the code is not valid for this client, redirect URI, and verifier";
    throw new OAuthError("invalid_grant", reason);
  }
  return { clientId: claims.clientId, scopes: claims.scopes, subject: claims.subject };
};

const claimsFor = (
  hub: TokensHub,
  { method, headers }: IncomingMessage,
  text: string,
): TokenClaims => {
  if (method !== "POST") throw new OAuthError("invalid_request", "the token URL accepts only POST");
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(headers["content-type"] ?? "")) {
    const rule = "the content type must be application/x-www-form-urlencoded";
    throw new OAuthError("invalid_request", rule);
  }
  const required = requiredParameters(new URLSearchParams(text));
  const type = required("grant_type");
  if (type === "authorization_code") return byCode(hub, required);
  if (type === "client_credentials") return byCredentials(hub, required);
  const rule = "grant_type must be client_credentials or authorization_code";
  throw new OAuthError("unsupported_grant_type", rule);
};

const issue = ({ tokens }: TokensHub, claims: TokenClaims): ServiceResponse => {
  const body = {
    access_token: tokens.issue(claims, tokenLifetimeSeconds * 1000),
    token_type: "Bearer",
    expires_in: tokenLifetimeSeconds,
    scope: claims.scopes.join(" "),
  };
  return { status: 200, body, headers: { "cache-control": "no-store" } };
};

/**
 * Serves the token URL: client credentials and code exchange. Logs refused calls, as they explain
 * why no other call follows, but nothing of what was sent: anything may be a secret in the wrong place.
 */
export const serveToken = async (
  hub: TokensHub,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
): Promise<void> => {
  const started = performance.now();
  const fault = hub.faults.take("TOKEN");
  const sent = await readBytes(request).catch((error) => {
    if (error instanceof HttpError) return Buffer.alloc(0);
    throw error;
  });
  const early = fault && (await beforeOperation(fault, response));
  const text = sent.toString("utf8");
  const answer = early ?? responseOf(() => issue(hub, claimsFor(hub, request, text)));
  if (fault) sendWithFault(response, answer, fault);
  else sendResponse(response, answer);
  if (answer.status > 0 && answer.status < 400) return;
  const where = { started, template: path, path };
  logCall(hub, request, answer, where, {
    answer: keptAnswer(answer, response),
    fault: fault?.kind,
  });
};
