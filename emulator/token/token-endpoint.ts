import { hash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { beforeOperation, sendWithFault } from "../control/fault-effects.js";
import { readBytes } from "../http/request-body.js";
import { HttpError, responseOf, type ServiceResponse, sendResponse } from "../http/response.js";
import type { EmulatedService } from "../service.js";
import { type Audience, grantedScopes, OAuthError, requiredParameters } from "./oauth-request.js";
import type { TokenClaims } from "./tokens.js";

type Required = (name: string) => string;

const byCredentials = ({ clients }: EmulatedService, required: Required): TokenClaims => {
  const [id, secret, scope] = [required("client_id"), required("client_secret"), required("scope")];
  const client = clients.withSecret(id, secret);
  if (!client)
    throw new OAuthError("invalid_client", "the client is not known or its secret is wrong", 401);
  return { clientId: id, scopes: grantedScopes(scope, client.scopes), subject: "client" };
};

const challengeOf = (verifier: string): string => hash("sha256", verifier, "base64url");

/** The second part of the code flow: specification §5.3. */
const byCode = ({ clients, tokens }: EmulatedService, required: Required, audience: Audience) => {
  const [code, redirectUri] = [required("code"), required("redirect_uri")];
  const [id, verifier] = [required("client_id"), required("code_verifier")];
  if (!clients.get(id)?.public)
    throw new OAuthError("invalid_client", "the client is not known or not public", 401);
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) {
    const rule = "code_verifier must have 43 to 128 unreserved characters";
    throw new OAuthError("invalid_request", rule);
  }
  const claims = tokens.redeem(code);
  const fits =
    claims?.clientId === id &&
    claims.redirectUri === redirectUri &&
    claims.subject === audience &&
    claims.challenge === challengeOf(verifier);
  if (!fits) {
    const reason = "the code is not valid for this client, address and verifier";
    throw new OAuthError("invalid_grant", reason);
  }
  return { clientId: claims.clientId, scopes: claims.scopes, subject: claims.subject };
};

const claimsFor = (
  service: EmulatedService,
  { method, headers }: IncomingMessage,
  text: string,
  audience: Audience,
): TokenClaims => {
  if (method !== "POST")
    throw new OAuthError("invalid_request", "the token address takes POST only");
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(headers["content-type"] ?? "")) {
    const rule = "the content type must be application/x-www-form-urlencoded";
    throw new OAuthError("invalid_request", rule);
  }
  const required = requiredParameters(new URLSearchParams(text));
  const type = required("grant_type");
  if (type === "authorization_code") return byCode(service, required, audience);
  // The customers' variant serves the code flow only.
  if (type === "client_credentials" && audience === "user") return byCredentials(service, required);
  const reason = `the grant type ${type.slice(0, 60)} is not supported here`;
  throw new OAuthError("unsupported_grant_type", reason);
};

const issue = ({ switches, tokens }: EmulatedService, claims: TokenClaims): ServiceResponse => {
  const { tokenLifetime } = switches;
  const body = {
    access_token: tokens.issue(claims, tokenLifetime * 1000),
    token_type: "Bearer",
    expires_in: tokenLifetime,
    scope: claims.scopes.join(" "),
  };
  return { status: 200, body, headers: { "cache-control": "no-store" } };
};

/** Serves the token address: client credentials, and the exchange of a code. */
export const serveToken = async (
  service: EmulatedService,
  request: IncomingMessage,
  response: ServerResponse,
  audience: Audience,
): Promise<void> => {
  const fault = service.faults.take("TOKEN");
  const body = await readBytes(request).catch((error) => {
    if (error instanceof HttpError) return Buffer.alloc(0);
    throw error;
  });
  const early = fault && (await beforeOperation(fault, response));
  const text = body.toString("utf8");
  const answer =
    early ?? responseOf(() => issue(service, claimsFor(service, request, text, audience)));
  if (fault) sendWithFault(response, answer, fault);
  else sendResponse(response, answer);
};
