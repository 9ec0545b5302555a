import { ConversationError, isConversationError } from "../../kernel/errors.js";
import { foreignError } from "../redaction.js";
import type { AccessToken, AccessTokens, TokenParts } from "../token.js";
import { type Answer, answerOf, type DatedAnswer, type Exchange, unanswered } from "./answers.js";
import { type Call, type CallOptions, callOf, givenUp } from "./call.js";
import type { Operation } from "./operations.js";
import { mayRepeat, withRetry } from "./retry.js";
import { type HttpResponse, TransportFailure } from "./transport.js";

/**
 * Calls an operation: waits for its turn, signs in, repeats what may be repeated.
 *
 * @throws ConversationError for every failure
 */
export type Request = (operation: Operation, options?: CallOptions) => Promise<Answer>;

/** The same with what can be learnt besides. */
export type DatedRequest = (operation: Operation, options?: CallOptions) => Promise<DatedAnswer>;

/** The same attempt for each repeat: where an earlier one may have acted, no later failure says that nothing was done. */
const keepUnknownEffect = <T>(attempt: () => Promise<T>): (() => Promise<T>) => {
  let mayHaveActed = false;
  return async () => {
    try {
      return await attempt();
    } catch (error) {
      if (!isConversationError(error)) throw error;
      const { code, message, details, effect, cause } = error;
      if (effect === "none" && mayHaveActed)
        throw new ConversationError(code, message, details, "unknown", { cause });
      mayHaveActed ||= effect !== "none";
      throw error;
    }
  };
};

/** A call goes down through the policies: repeat, wait for a turn, sign in, send; its answer is read once. */
export const datedRequest =
  (parts: ClientParts): DatedRequest =>
  async (operation, options = {}) => {
    const call = callOf(parts, operation, options);
    const { signal } = call;
    return withRetry(
      keepUnknownEffect(async () => answerOf(await authorized(parts, call))),
      (error, failures) => mayRepeat(operation, error, failures),
      { limits: parts.retry ?? {}, signal, clock: parts.clock, onRepeat: parts.onRepeat },
    );
  };

/** As {@link datedRequest}, with no more than status and body. */
export const serviceRequest = (parts: ClientParts): Request => {
  const dated = datedRequest(parts);
  return async (operation, options) => {
    const { status, body } = await dated(operation, options);
    return { status, body };
  };
};

/** Sends a call, in its turn, with a token; one that is refused (401) is followed once by a new one. */
const authorized = async (parts: ClientParts, call: Call): Promise<Exchange> => {
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
    return sentWith(parts, signed, token);
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

/** What all calls of one connection share. */
interface ClientParts extends TokenParts {
  readonly tokens: AccessTokens;
  /** Called with every answer of the service, whatever its status. */
  readonly onAnswer?: (response: HttpResponse) => void;
}

/** Sends a call with a token, once. */
const sentWith = async (
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
