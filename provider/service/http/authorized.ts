import { foreignError } from "../redaction/redaction.js";
import type { AccessToken, AccessTokens, TokenParts } from "../token/access-token.js";
import { type Exchange, unanswered } from "./answers.js";
import { type Call, givenUp } from "./call.js";
import { type HttpResponse, TransportFailure } from "./transport.js";

/** What all calls of one connection share. */
export interface ClientParts extends TokenParts {
  readonly tokens: AccessTokens;
  /** Told of every answer of the service, whatever its status. */
  readonly onAnswer?: (response: HttpResponse) => void;
}

/** Sends a call, in its turn, with a token; one that is refused (401) is followed once by a new one. */
export const authorized = async (parts: ClientParts, call: Call): Promise<Exchange> => {
  const first = await paced(parts, call, () => parts.tokens.current());
  const { token } = first.call;
  if (first.response.status !== 401 || !token) return first;
  const again = await paced(parts, call, () => parts.tokens.after(token));
  return { ...again, call: { ...again.call, secrets: [...again.call.secrets, token.value] } };
};

/** @param choose A token, after the wait, which may be longer than the life of a token. */
const paced = async (
  parts: ClientParts,
  call: Call,
  choose: () => Promise<AccessToken>,
): Promise<Exchange> => {
  let signed = call;
  const attempt = async (): Promise<HttpResponse> => {
    const token = await unlessGivenUp(choose(), call);
    signed = { ...call, token, secrets: [...call.secrets, token.value] };
    return sent(parts, signed, token);
  };
  const response = await parts.pace(call.operation, attempt, call.signal);
  return { call: signed, response };
};

/** A shared promise goes on without the caller who gives up waiting for it. */
const unlessGivenUp = <T>(promise: Promise<T>, call: Call): Promise<T> =>
  new Promise((resolve, reject) => {
    const { signal } = call;
    const giveUp = (): void => reject(givenUp(call));
    signal.addEventListener("abort", giveUp, { once: true });
    if (signal.aborted) giveUp();
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", giveUp));
  });

const sent = async (
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
