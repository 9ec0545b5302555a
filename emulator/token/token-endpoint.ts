import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { interfere, silence } from "../control/interfere.js";
import { sendAnswer, sendSpoiled } from "../deliver.js";
import { readBytes } from "../http/read-body.js";
import { type Answer, Refusal } from "../http/refusal.js";
import type { World } from "../objects/world.js";
import type { Grant } from "./tokens.js";

/** Whose variant of the addresses: users and customers have one each (specification §5.3). */
export type Audience = "user" | "customer";

/** An error of the token or authorization address (RFC 6749 §5.2). */
export class OAuthError extends Error {
  constructor(
    readonly error: string,
    description: string,
    readonly status = 400,
  ) {
    super(description);
  }

  answer(): Answer {
    const headers = { "cache-control": "no-store" };
    return {
      status: this.status,
      body: { error: this.error, error_description: this.message },
      headers,
    };
  }
}

/** More than any request of the flows has, so that a huge form costs nothing. */
const mostParameters = 100;

const twiceGiven = (parameters: URLSearchParams): string | undefined => {
  const seen = new Set<string>();
  for (const name of parameters.keys()) {
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return undefined;
};

/**
 * Reads parameters that must be there.
 *
 * @throws OAuthError where one is given twice, or where there are more than 100
 */
export const single = (parameters: URLSearchParams): ((name: string) => string) => {
  if (parameters.size > mostParameters)
    throw new OAuthError("invalid_request", `there are more than ${mostParameters} parameters`);
  const twice = twiceGiven(parameters);
  if (twice !== undefined)
    throw new OAuthError("invalid_request", `${twice.slice(0, 60)} is given twice`);
  return (name) => {
    const value = parameters.get(name);
    if (!value) throw new OAuthError("invalid_request", `${name} is missing`);
    return value;
  };
};

/** The scopes asked for and granted; one that ends in `.default` asks for all (inferred). */
export const grantedScopes = (asked: string, granted: readonly string[]): readonly string[] => {
  const words = asked.split(" ").filter(Boolean);
  const scopes = words.some((word) => word.endsWith(".default"))
    ? granted
    : granted.filter((scope) => words.includes(scope));
  if (scopes.length === 0)
    throw new OAuthError("invalid_scope", "none of the scopes asked for is granted to the client");
  return scopes;
};

const byCredentials = (world: World, required: (name: string) => string): Grant => {
  const [id, secret, scope] = [required("client_id"), required("client_secret"), required("scope")];
  const client = world.clients.withSecret(id, secret);
  if (!client)
    throw new OAuthError("invalid_client", "the client is not known or its secret is wrong", 401);
  return { clientId: id, scopes: grantedScopes(scope, client.scopes), subject: "client" };
};

const challengeOf = (verifier: string): string =>
  createHash("sha256").update(verifier).digest("base64url");

/** The second part of the code flow: specification §5.3. */
const byCode = (world: World, required: (name: string) => string, audience: Audience): Grant => {
  const [code, redirectUri, id, verifier] = [
    "code",
    "redirect_uri",
    "client_id",
    "code_verifier",
  ].map(required);
  if (!world.clients.get(id ?? "")?.public)
    throw new OAuthError("invalid_client", "the client is not known or not public", 401);
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier ?? "")) {
    throw new OAuthError(
      "invalid_request",
      "code_verifier must have 43 to 128 unreserved characters",
    );
  }
  const grant = world.tokens.redeem(code ?? "");
  const fits =
    grant?.clientId === id &&
    grant?.redirectUri === redirectUri &&
    grant?.subject === audience &&
    grant?.challenge === challengeOf(verifier ?? "");
  if (!grant || !fits)
    throw new OAuthError(
      "invalid_grant",
      "the code is not valid for this client, address and verifier",
    );
  return { clientId: grant.clientId, scopes: grant.scopes, subject: grant.subject };
};

const grantOf = (
  world: World,
  request: IncomingMessage,
  text: string,
  audience: Audience,
): Grant => {
  if (request.method !== "POST")
    throw new OAuthError("invalid_request", "the token address takes POST only");
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(request.headers["content-type"] ?? "")) {
    throw new OAuthError(
      "invalid_request",
      "the content type must be application/x-www-form-urlencoded",
    );
  }
  const required = single(new URLSearchParams(text));
  const type = required("grant_type");
  if (type === "authorization_code") return byCode(world, required, audience);
  // The customers' variant serves the code flow only.
  if (type === "client_credentials" && audience === "user") return byCredentials(world, required);
  throw new OAuthError(
    "unsupported_grant_type",
    `the grant type ${type.slice(0, 60)} is not supported here`,
  );
};

const issue = (world: World, grant: Grant): Answer => {
  const { tokenLifetime } = world.switches;
  const body = {
    access_token: world.tokens.issue(grant, tokenLifetime * 1000),
    token_type: "Bearer",
    expires_in: tokenLifetime,
    scope: grant.scopes.join(" "),
  };
  return { status: 200, body, headers: { "cache-control": "no-store" } };
};

const answerTo = (
  world: World,
  request: IncomingMessage,
  text: string,
  audience: Audience,
): Answer => {
  try {
    return issue(world, grantOf(world, request, text, audience));
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    return error.answer();
  }
};

/** Serves the token address: client credentials, and the exchange of a code. */
export const serveToken = async (
  world: World,
  request: IncomingMessage,
  response: ServerResponse,
  audience: Audience,
): Promise<void> => {
  const fault = world.faults.take("TOKEN");
  const body = await readBytes(request).catch((error) => {
    if (error instanceof Refusal) return Buffer.alloc(0);
    throw error;
  });
  const interfered = await interfere(fault, response);
  if (interfered === silence) return;
  const answer = interfered ?? answerTo(world, request, body.toString("utf8"), audience);
  if (fault) sendSpoiled(response, answer, fault);
  else sendAnswer(response, answer);
};
