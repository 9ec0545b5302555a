import type { ServiceResponse } from "../http/response.js";
import type { EmulatedService } from "../service.js";
import { type Audience, grantedScopes, OAuthError, requiredParameters } from "./oauth-request.js";

const redirectTo = (address: string, parameters: Readonly<Record<string, string | null>>) => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== null) query.append(name, value);
  // Put together by hand: the registered address stays as it is, to the letter.
  const location = `${address}${address.includes("?") ? "&" : "?"}${query}`;
  return { status: 302, headers: { location, "cache-control": "no-store" } };
};

/** The scopes and the challenge that a code will stand for. */
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

/** A parameter that is there exactly once; empty otherwise. */
const once = (query: URLSearchParams, name: string): string => {
  const [value = "", ...more] = query.getAll(name);
  return more.length === 0 ? value : "";
};

/**
 * The authorization address (specification §5.3): approves at once, as this is a test bed.
 *
 * @throws OAuthError where the client or the redirect address is wrong: nobody is sent anywhere
 */
export const authorize = (
  { clients, tokens }: EmulatedService,
  query: URLSearchParams,
  audience: Audience,
): ServiceResponse => {
  const clientId = once(query, "client_id");
  const redirectUri = once(query, "redirect_uri");
  const client = clients.get(clientId);
  if (!client?.public) {
    const reason = "client_id is missing, given twice or names no public client";
    throw new OAuthError("invalid_request", reason);
  }
  if (!client.redirectUris?.includes(redirectUri)) {
    const reason = "redirect_uri is missing, given twice or not registered for the client";
    throw new OAuthError("invalid_request", reason);
  }
  const state = query.get("state");
  try {
    const asked = codeRequest(query, client.scopes);
    const code = tokens.issueCode({ ...asked, clientId, subject: audience, redirectUri });
    return redirectTo(redirectUri, { code, state });
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    return redirectTo(redirectUri, { error: error.code, error_description: error.message, state });
  }
};
