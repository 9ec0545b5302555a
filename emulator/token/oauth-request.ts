import { HttpError, type ServiceResponse } from "../http/response.js";

/** Whose variant of the addresses: users and customers have one each (specification §5.3). */
export type Audience = "user" | "customer";

/** An error of the token or authorization address, with its code (RFC 6749 §5.2). */
export class OAuthError extends HttpError {
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

/** More than any request of the flows has, so that a huge form costs nothing. */
const mostParameters = 100;

/**
 * Reads parameters that must be there.
 *
 * @throws OAuthError where one is given twice, or where there are more than 100
 */
export const requiredParameters = (parameters: URLSearchParams): ((name: string) => string) => {
  if (parameters.size > mostParameters)
    throw new OAuthError("invalid_request", `there are more than ${mostParameters} parameters`);
  const names = [...parameters.keys()];
  const repeated = names.find((name, place) => names.indexOf(name) < place);
  if (repeated !== undefined)
    throw new OAuthError("invalid_request", `${repeated.slice(0, 60)} is given twice`);
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
