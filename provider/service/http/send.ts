import { foreignError } from "../redaction/redaction.js";
import type { AccessToken, AccessTokens, TokenParts } from "../token/access-token.js";
import { unanswered } from "./answers.js";
import type { Call } from "./call.js";
import { type HttpResponse, TransportFailure } from "./transport.js";

/** What all calls of one connection share. */
export interface ClientParts extends TokenParts {
  readonly tokens: AccessTokens;
  /** Told of every answer of the service, whatever its status. */
  readonly onAnswer?: (response: HttpResponse) => void;
}

/** Sends a call with a token, once. */
export const sentWith = async (
  { transport, headers, onAnswer }: ClientParts,
  call: Call,
  token: AccessToken,
): Promise<HttpResponse> => {
  const { operation, url, text, signal } = call;
  try {
    const response = await transport.send({
      method: operation.method,
      url,
      headers: {
        ...headers,
        ...(text === undefined ? {} : { "content-type": "application/json" }),
        authorization: `Bearer ${token.value}`,
      },
      ...(text === undefined ? {} : { body: text }),
      ...(operation.method === "GET" ? { signal } : {}),
    });
    onAnswer?.(response);
    return response;
  } catch (error) {
    if (error instanceof TransportFailure) throw unanswered(call, error);
    throw foreignError(error, call.secrets);
  }
};
