import type { Fields } from "../definition/define.js";
import { secretTexts } from "../definition/fields.js";
import { unlessAborted } from "../kernel/clock.js";
import { ConversationError } from "../kernel/errors.js";
import { parseJson } from "../kernel/json.js";
import { assertId } from "../kernel/object-id.js";
import {
  brokenAnswer,
  type Call,
  cancelledCall,
  damagedAnswer,
  refusedCall,
  unansweredCall,
} from "./call-errors.js";
import type { Operation } from "./operations.js";
import { foreignError, secretsOfRunningCall } from "./redaction.js";
import { cancelledBy, repeatIfHarmless } from "./retry.js";
import type { AccessToken, AccessTokens, ConnectionParts } from "./token.js";
import {
  type Attempt,
  dateOf,
  type Endpoint,
  type HttpRequest,
  type HttpResponse,
  observeAttempt,
  TransportFailure,
} from "./transport.js";

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
  /** The body's fields, which determine what in the body is secret. */
  readonly fields?: Fields;
}

/** The response to a call that the service accepted (2xx). */
export interface Answer {
  /** HTTP status: 200 to 299. */
  readonly status: number;
  /**
   * The JSON value; undefined if there is no body, or if the body of a PUT, PATCH, or DELETE is incomplete.
   */
  readonly body: unknown;
}

export interface DatedAnswer extends Answer {
  /** The service's time when the response arrived, in milliseconds since 1970, if known. */
  readonly date: number | undefined;
}

/**
 * Calls an operation: waits for its turn, authenticates, and repeats the call if that is allowed.
 *
 * @throws ConversationError for every failure
 */
export type Request = (operation: Operation, options?: CallParameters) => Promise<DatedAnswer>;

/** Returns the function that makes each call, from preparing it to judging its answer. */
export const serviceRequest =
  (parts: ConnectionParts, tokens: AccessTokens): Request =>
  async (operation, options = {}) => {
    const call = prepareCall(parts, operation, options);
    if (call.signal.aborted) throw cancelledBy(call.signal, "sent");
    const endpoint: Endpoint = { method: operation.method, template: operation.template };

    /**
     * Sends the call in its turn, again as long as it is refused (429), with a token that is chosen
     * then: the wait may be longer than its life.
     */
    const sendInTurn = (
      chooseToken: () => AccessToken | Promise<AccessToken>,
    ): Promise<HttpResponse> =>
      parts.pace(
        endpoint,
        async () => {
          const chosen = chooseToken();
          const token =
            chosen instanceof Promise
              ? await unlessAborted(call.signal, chosen, () => cancelledCall(call))
              : chosen;
          const observed = { call: endpoint, attempt: call.tokens.push(token) };
          return sendSigned(parts, call, token, observed);
        },
        call.signal,
      );

    /** A refused token (401) is replaced once. */
    const sendAuthorized = async (): Promise<HttpResponse> => {
      const response = await sendInTurn(() => tokens.current());
      const refused = call.tokens.at(-1);
      if (response.status !== 401 || !refused) return response;
      return sendInTurn(() => tokens.after(refused));
    };

    const sendAndJudge = async (): Promise<DatedAnswer> =>
      judgeAnswer(call, await sendAuthorized());
    try {
      return await sendAndJudge();
    } catch (error) {
      // Never a POST that may have had an effect: `create.ts` looks for its object first.
      return repeatIfHarmless(error, sendAndJudge, {
        endpoint,
        limits: parts.retry,
        signal: call.signal,
        onRepeat: (failure) => parts.onEvent({ type: "repeating", call: endpoint, error: failure }),
      });
    }
  };

/**
 * Prepares a call for sending.
 *
 * @throws ConversationError `ID_INVALID`
 */
const prepareCall = (
  { settings, secrets, signal }: ConnectionParts,
  operation: Operation,
  options: CallParameters,
): Call => {
  // Checked first: a bad id must not get any further.
  const path = options.path ?? fillPath(operation.template, options.id);
  const { body, fields } = options;
  const tokens: AccessToken[] = [];
  return {
    operation,
    settings,
    path,
    url: settings.baseUrl + path + writeQuery(options.query),
    text: body === undefined ? undefined : JSON.stringify(body),
    tokens,
    secrets: () => [
      ...secrets,
      ...secretsOfRunningCall(),
      ...tokens.map(({ value }) => value),
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

/** Sends a call with a token, once. */
const sendSigned = async (
  { headers, transport, time, onEvent }: ConnectionParts,
  call: Call,
  token: AccessToken,
  attempt: Attempt,
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
    const response = await observeAttempt(onEvent, attempt, () => transport.send(request));
    time.learn(response.headers);
    return response;
  } catch (error) {
    if (error instanceof TransportFailure) throw unansweredCall(call, error);
    throw foreignError(error, call.secrets());
  }
};

/**
 * The response to a call that the service accepted.
 *
 * @throws ConversationError for every other status and for an unusable body
 */
const judgeAnswer = (call: Call, response: HttpResponse): DatedAnswer => {
  const { status, broken, headers } = response;
  const { method } = call.operation;
  if (status < 200 || status > 299) throw refusedCall(call, response);
  // If the answer to a PUT, PATCH, or DELETE is cut off, its status is all that callers need.
  if (broken && (method === "GET" || method === "POST")) throw brokenAnswer(call, response, broken);
  return { status, body: readBody(call, response), date: dateOf(headers) };
};

const readBody = (call: Call, response: HttpResponse): unknown => {
  const { text, broken } = response;
  if (text.trim() === "" && call.operation.method !== "GET") return undefined;
  try {
    return parseJson(text);
  } catch {
    if (broken) return undefined;
    // A proxy in front of the service may answer instead of it: its status says nothing about the
    // call.
    const what = "the response is not JSON. Check that the base URL belongs to the service";
    throw damagedAnswer(call, response, "BAD_RESPONSE", what);
  }
};
