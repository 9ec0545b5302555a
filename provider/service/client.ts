import type { Fields } from "../definition/define.js";
import { secretTexts } from "../definition/fields.js";
import { ConversationError } from "../kernel/errors.js";
import { assertId } from "../kernel/object-id.js";
import {
  type Answer,
  type Call,
  cancelledCall,
  type DatedAnswer,
  type Exchange,
  judgeAnswer,
  unansweredCall,
} from "./answer.js";
import { type ObservedCall, observeAttempt, sendInItsTurn } from "./call-events.js";
import type { Operation } from "./operations.js";
import { foreignError, secretsOfRunningCall } from "./redaction.js";
import { keepUnknownEffect, mayRepeat, withRetry } from "./retry.js";
import type { AccessToken, AccessTokens, TokenParts } from "./token.js";
import { type HttpRequest, type HttpResponse, TransportFailure } from "./transport.js";

/** The parameters of one call to an operation. */
export interface CallParameters {
  /** The value for `{id}` in the path. */
  readonly id?: string;
  /** The path with every placeholder filled in, for a template that has others than `{id}`. */
  readonly path?: string;
  /** Query parameters, sent in this order; `$` is not encoded. */
  readonly query?: Readonly<Record<string, string | number>>;
  /** Request body, sent as JSON. */
  readonly body?: unknown;
  /**
   * Cancels the call while it waits or reads. A write that has already been sent still completes,
   * because its response must not be lost.
   */
  readonly signal?: AbortSignal;
  /**
   * The body's fields, which determine how much of the body a message may show. Without them,
   * messages show none of it.
   */
  readonly fields?: Fields;
}

/**
 * Calls an operation: waits for its turn, authenticates, and repeats the call if that is allowed.
 *
 * @throws ConversationError for every failure
 */
export type Request = (operation: Operation, options?: CallParameters) => Promise<Answer>;

/** Like {@link Request}, but also returns the response's arrival time and body length. */
export type DatedRequest = (operation: Operation, options?: CallParameters) => Promise<DatedAnswer>;

/** Returns the function that makes each call, from preparing it to judging its answer. */
export const serviceRequest = (parts: TokenParts, tokens: AccessTokens): DatedRequest => {
  const host = new URL(parts.settings.baseUrl).hostname;
  return async (operation, options = {}) => {
    const call = prepareCall(parts, operation, options);
    const observed: ObservedCall = { method: operation.method, template: operation.template };
    let attempt = 0;

    /** Sends the call in its turn, with a token that is chosen then: the wait may be longer than its life. */
    const sendInTurn = async (
      chooseToken: () => AccessToken | Promise<AccessToken>,
    ): Promise<Exchange> => {
      let signed = call;
      const send = async (): Promise<HttpResponse> => {
        const chosen = chooseToken();
        const token = chosen instanceof Promise ? await waitUnlessCancelled(chosen, call) : chosen;
        signed = { ...hideToken(call, token), token };
        attempt += 1;
        return observeAttempt(parts.onEvent, { call: observed, attempt }, host, () =>
          sendSigned(parts, signed, token),
        );
      };
      const response = await sendInItsTurn(parts, observed, send, call.signal);
      return { call: signed, response };
    };

    /** A refused token (401) is replaced once. */
    const sendAuthorized = async (): Promise<Exchange> => {
      const first = await sendInTurn(() => tokens.current(observed));
      const { token } = first.call;
      if (first.response.status !== 401 || !token) return first;
      const again = await sendInTurn(() => tokens.after(token, observed));
      return { ...again, call: hideToken(again.call, token) };
    };

    // A POST that may have had an effect is never repeated here: its caller looks for the object first.
    return withRetry(
      keepUnknownEffect(async () => judgeAnswer(await sendAuthorized())),
      (error, failures) => mayRepeat(operation, error, failures),
      {
        limits: parts.retry ?? {},
        signal: call.signal,
        clock: parts.clock,
        onRepeat: (error, longestMs) =>
          parts.onEvent({ type: "repeating", call: observed, error, longestMs }),
      },
    );
  };
};

/**
 * Prepares a call for sending.
 *
 * @throws ConversationError `ID_INVALID`
 */
const prepareCall = (parts: TokenParts, operation: Operation, options: CallParameters): Call => {
  const { settings, signal } = parts;
  // Checked first: a bad id must not get any further.
  const path = options.path ?? fillPath(operation.template, options.id);
  const { body, fields } = options;
  return {
    operation,
    settings,
    path,
    url: settings.baseUrl + path + writeQuery(options.query),
    ...(body === undefined ? {} : { body, text: JSON.stringify(body) }),
    ...(fields ? { fields } : {}),
    secrets: () => [
      ...parts.secrets,
      ...secretsOfRunningCall(),
      ...(fields ? secretTexts(fields, body) : []),
    ],
    signal: options.signal ? AbortSignal.any([signal, options.signal]) : signal,
  };
};

const writeQuery = (query: CallParameters["query"] = {}): string => {
  const encode = (text: string): string => encodeURIComponent(text).replaceAll("%24", "$");
  const pairs = Object.entries(query).map(([key, value]) => `${encode(key)}=${encode(`${value}`)}`);
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
};

/**
 * An operation's path relative to the base URL, with the ID filled in: `/channels/{id}` becomes
 * `/channels/4f…`.
 *
 * @throws ConversationError `ID_INVALID` if the ID is invalid, missing, or not expected
 */
export const fillPath = (template: string, id?: string): string => {
  if (template.includes("{id}")) {
    assertId(id ?? "", `an object under ${template}`);
    return template.replace("{id}", id ?? "");
  }
  if (id === undefined) return template;
  throw new ConversationError("ID_INVALID", `${template} does not accept an ID. Nothing was sent.`);
};

/** The call with a token that no message about it shows. */
const hideToken = (call: Call, { value }: AccessToken): Call => ({
  ...call,
  secrets: () => [...call.secrets(), value],
});

/** A shared promise continues without a caller who gives up waiting for it. */
const waitUnlessCancelled = <T>(promise: Promise<T>, call: Call): Promise<T> =>
  new Promise((resolve, reject) => {
    const { signal } = call;
    const giveUp = (): void => reject(cancelledCall(call));
    signal.addEventListener("abort", giveUp, { once: true });
    if (signal.aborted) giveUp();
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", giveUp));
  });

/** Sends a call with a token, once. */
const sendSigned = async (
  { headers, transport }: TokenParts,
  call: Call,
  token: AccessToken,
): Promise<HttpResponse> => {
  const { operation, url, text, signal } = call;
  const request: HttpRequest = {
    method: operation.method,
    url,
    headers: {
      ...headers,
      ...(text === undefined ? {} : { "content-type": "application/json" }),
      authorization: `Bearer ${token.value}`,
    },
    ...(text === undefined ? {} : { body: text }),
    ...(operation.method === "GET" ? { signal } : {}),
  };
  try {
    return await transport.send(request);
  } catch (error) {
    if (error instanceof TransportFailure) throw unansweredCall(call, error);
    throw foreignError(error, call.secrets());
  }
};
