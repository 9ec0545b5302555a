import type { Answer } from "../http/refusal.js";
import type { World } from "../objects/world.js";
import { type Audience, grantedScopes, OAuthError, single } from "./token-endpoint.js";

const required = ["response_type", "scope", "code_challenge", "code_challenge_method"] as const;

const redirectTo = (
  address: string,
  parameters: Readonly<Record<string, string | null>>,
): Answer => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== null) query.append(name, value);
  // Put together by hand: the registered address stays as it is, to the letter.
  const location = `${address}${address.includes("?") ? "&" : "?"}${query}`;
  return { status: 302, headers: { location, "cache-control": "no-store" } };
};

const codeFor = (
  world: World,
  query: URLSearchParams,
  clientId: string,
  redirectUri: string,
  audience: Audience,
): string => {
  const parameter = single(query);
  const [type, scope, challenge, method] = required.map(parameter);
  if (type !== "code")
    throw new OAuthError("unsupported_response_type", "response_type must be code");
  if (method !== "S256")
    throw new OAuthError("invalid_request", "code_challenge_method must be S256");
  if (!/^[A-Za-z0-9_-]{43}$/.test(challenge ?? ""))
    throw new OAuthError("invalid_request", "code_challenge must be an S256 challenge");
  const scopes = grantedScopes(scope ?? "", world.clients.get(clientId)?.scopes ?? []);
  return world.tokens.issueCode({
    clientId,
    scopes,
    subject: audience,
    redirectUri,
    challenge: challenge ?? "",
  });
};

/** A parameter that is there exactly once; empty otherwise. */
const once = (query: URLSearchParams, name: string): string => {
  const [value = "", ...more] = query.getAll(name);
  return more.length === 0 ? value : "";
};

/**
 * The authorization address (specification §5.3): approves at once, as this is a test bed. Where
 * the client or the redirect address is wrong it says so and sends nobody anywhere.
 */
export const authorize = (world: World, query: URLSearchParams, audience: Audience): Answer => {
  const clientId = once(query, "client_id");
  const redirectUri = once(query, "redirect_uri");
  const client = world.clients.get(clientId);
  if (!client?.public)
    return new OAuthError(
      "invalid_request",
      "client_id is missing, given twice or names no public client",
    ).answer();
  if (!client.redirectUris?.includes(redirectUri)) {
    return new OAuthError(
      "invalid_request",
      "redirect_uri is missing, given twice or not registered for the client",
    ).answer();
  }
  const state = query.get("state");
  try {
    return redirectTo(redirectUri, {
      code: codeFor(world, query, clientId, redirectUri, audience),
      state,
    });
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    return redirectTo(redirectUri, { error: error.error, error_description: error.message, state });
  }
};
