import { hash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type JsonObject, objectOf } from "../../provider/kernel/json.js";
import { keptBody } from "../http/call-log.js";
import {
  HttpError,
  readBytes,
  reasonOf,
  responseOf,
  type ServiceResponse,
  sendResponse,
  serialised,
} from "../http/exchange.js";
import { mask } from "../objects/secrets.js";
import { timestamp } from "../service/clock.js";
import { beforeOperation, sendWithFault } from "../service/faults.js";
import type { EmulatedService } from "../service/service.js";
import type { TokenClaims } from "./tokens.js";

/** Who the URLs are for. Users and customers have separate URLs (specification §5.3). */
export type Audience = "user" | "customer";

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

/** What the form of a token call holds. */
const tokenParameters = [
  "grant_type",
  "client_id",
  "client_secret",
  "scope",
  "code",
  "redirect_uri",
  "code_verifier",
] as const;

/** More than any request of the flows has; a huge form costs nothing. */
const mostParameters = 100;

/**
 * Reads required parameters.
 *
 * @throws OAuthError if a parameter appears twice, or if there are more than 100 parameters
 */
const requiredParameters = (parameters: URLSearchParams): ((name: string) => string) => {
  if (parameters.size > mostParameters)
    throw new OAuthError(
      "invalid_request",
      `the request has more than ${mostParameters} parameters`,
    );
  const names = [...parameters.keys()];
  const repeated = names.find((name, place) => names.indexOf(name) < place);
  if (repeated !== undefined) {
    // A name that nobody knows may be a secret in the wrong place.
    const name = tokenParameters.find((each) => each === repeated) ?? "a parameter";
    throw new OAuthError("invalid_request", `${name} appears twice`);
  }
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
  { clients, tokens }: EmulatedService,
  query: URLSearchParams,
  audience: Audience,
): ServiceResponse => {
  const clientId = once(query, "client_id");
  const redirectUri = once(query, "redirect_uri");
  const client = clients.get(clientId);
  if (!client?.public) {
    const reason =
      "client_id is missing, appears more than once, or does not identify a public client";
    throw new OAuthError("invalid_request", reason);
  }
  if (!client.redirectUris?.includes(redirectUri)) {
    const reason =
      "redirect_uri is missing, appears more than once, or is not registered for the client";
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

type Required = (name: string) => string;

const byCredentials = (
  { clients }: EmulatedService,
  required: Required,
  onlyScope: string | undefined,
): TokenClaims => {
  const [id, secret, scope] = [required("client_id"), required("client_secret"), required("scope")];
  const client = clients.withSecret(id, secret);
  if (!client)
    throw new OAuthError("invalid_client", "the client is unknown or its secret is wrong", 401);
  if (onlyScope !== undefined && scope !== onlyScope)
    throw new OAuthError("invalid_scope", "the scope must be https://<API host>/auth/.default");
  return { clientId: id, scopes: grantedScopes(scope, client.scopes), subject: "client" };
};

const challengeOf = (verifier: string): string => hash("sha256", verifier, "base64url");

/** The second part of the code flow: specification §5.3. */
const byCode = ({ clients, tokens }: EmulatedService, required: Required, audience: Audience) => {
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
    claims.subject === audience &&
    claims.challenge === challengeOf(verifier);
  if (!fits) {
    const reason = "the code is not valid for this client, redirect URI, and verifier";
    throw new OAuthError("invalid_grant", reason);
  }
  return { clientId: claims.clientId, scopes: claims.scopes, subject: claims.subject };
};

const grantTypes = ["client_credentials", "authorization_code"] as const;

const claimsFor = (
  service: EmulatedService,
  { method, headers }: IncomingMessage,
  text: string,
  { audience, onlyScope }: TokenAddress,
): TokenClaims => {
  if (method !== "POST") throw new OAuthError("invalid_request", "the token URL accepts only POST");
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(headers["content-type"] ?? "")) {
    const rule = "the content type must be application/x-www-form-urlencoded";
    throw new OAuthError("invalid_request", rule);
  }
  const required = requiredParameters(new URLSearchParams(text));
  const type = required("grant_type");
  if (type === "authorization_code") return byCode(service, required, audience);
  // The customers' variant serves the code flow only.
  if (type === "client_credentials" && audience === "user")
    return byCredentials(service, required, onlyScope);
  const supported = audience === "user" ? grantTypes.join(" or ") : grantTypes[1];
  throw new OAuthError("unsupported_grant_type", `grant_type must be ${supported}`);
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

/**
 * The form of a token call as the log keeps it. Only what the emulator knows is shown: anything else
 * may be a secret, or a guess of one, in the wrong place.
 */
const maskedForm = ({ clients }: EmulatedService, text: string): JsonObject => {
  const all = clients.all();
  const scopes = new Set(all.flatMap((client) => client.scopes));
  const addresses = all.flatMap(({ redirectUris = [] }) => redirectUris);
  /** Whether a value is known, by the name of its parameter; none of the others is shown. */
  const known: Readonly<Record<string, (value: string) => boolean>> = {
    grant_type: (value) => grantTypes.some((each) => each === value),
    client_id: (value) => clients.get(value) !== undefined,
    scope: (value) => scopes.has(value) || value === ".default",
    redirect_uri: (value) => addresses.includes(value),
  };
  const form = new URLSearchParams(text);
  const shown = (name: string, value: string): string => {
    const { [name]: isKnown } = known;
    if (value === "" || !isKnown) return value && mask;
    const words = name === "scope" ? value.split(" ").slice(0, mostParameters) : [value];
    return words.map((word) => (isKnown(word) ? word : `${mask} (unknown)`)).join(" ");
  };
  return objectOf(
    tokenParameters.flatMap((name) => {
      const value = form.get(name);
      return value === null ? [] : [[name, shown(name, value)]];
    }),
  );
};

/** The page lists a refused call of the token URL, as it explains why no other call follows. */
const logRefusal = (
  service: EmulatedService,
  { method = "" }: IncomingMessage,
  path: string,
  answer: ServiceResponse,
  content: { readonly sent: Buffer; readonly fault?: string | undefined; readonly ms: number },
): void => {
  const { sent, fault, ms } = content;
  const form = JSON.stringify(maskedForm(service, sent.toString("utf8")));
  const { status, body } = answer;
  const text = body === undefined ? "" : String(serialised(body));
  const at = timestamp(service.clock.now());
  const reason = reasonOf(answer);
  const entry = {
    at,
    method,
    template: path,
    path,
    status,
    ms,
    subjects: [],
    isTokenCall: true,
  } as const;
  service.log.add(
    { ...entry, ...(reason === undefined ? {} : { reason }) },
    {
      sent: sent.length === 0 ? undefined : { size: sent.length, text: form, isMasked: true },
      answer: keptBody(Buffer.byteLength(text), () => text),
      check: fault === undefined ? "credentials" : "fault",
      ...(fault === undefined ? {} : { fault }),
    },
  );
};

/** One of the token URLs. */
interface TokenAddress {
  readonly path: string;
  readonly audience: Audience;
  /** The only scope that it knows, if that is so. */
  readonly onlyScope: string | undefined;
}

/** Serves the token URL: client credentials and code exchange. Logs refused calls. */
export const serveToken = async (
  service: EmulatedService,
  request: IncomingMessage,
  response: ServerResponse,
  address: TokenAddress,
): Promise<void> => {
  const started = performance.now();
  const fault = service.faults.take("TOKEN");
  const sent = await readBytes(request).catch((error) => {
    if (error instanceof HttpError) return Buffer.alloc(0);
    throw error;
  });
  const early = fault && (await beforeOperation(fault, response));
  const text = sent.toString("utf8");
  const answer =
    early ?? responseOf(() => issue(service, claimsFor(service, request, text, address)));
  if (fault) sendWithFault(response, answer, fault);
  else sendResponse(response, answer);
  if (answer.status > 0 && answer.status < 400) return;
  const ms = Math.round(performance.now() - started);
  logRefusal(service, request, address.path, answer, { sent, fault: early && fault?.kind, ms });
};
