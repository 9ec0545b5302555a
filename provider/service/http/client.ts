import { foreignError } from "../redaction/redaction.js";
import { clientSecrets } from "../redaction/secret-texts.js";
import type { AccessToken, AccessTokens, TokenParts } from "../token/access-token.js";
import { type Answer, answerOf, type DatedAnswer, unanswered } from "./answers.js";
import { type Call, givenUp, pathOf } from "./call.js";
import type { Operation } from "./operations.js";
import { mayRepeat, withRetry } from "./retry.js";
import { type HttpRequest, type HttpResponse, TransportFailure } from "./transport.js";

/** What belongs to one call of an operation. */
export interface CallOptions {
  /** For the `{id}` of the path. */
  readonly id?: string;
  /** Sent in this order; `$` stays as it is. */
  readonly query?: Readonly<Record<string, string | number>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Ends waiting and reading. A write that was sent is waited for, since its answer must not be lost. */
  readonly signal?: AbortSignal;
  /** Texts of the body that no message may show, should the service echo them. */
  readonly secrets?: readonly string[];
}

/**
 * Calls an operation: waits for its turn, signs in, repeats what may be repeated.
 *
 * @throws ConversationError for every failure
 */
export type Request = (operation: Operation, options?: CallOptions) => Promise<Answer>;

/** The same with what can be learnt besides. */
export type DatedRequest = (operation: Operation, options?: CallOptions) => Promise<DatedAnswer>;

export interface ClientParts extends TokenParts {
  readonly tokens: AccessTokens;
  /** Told of every answer of the service, whatever its status. */
  readonly onAnswer?: (response: HttpResponse) => void;
}

const queryText = (query: CallOptions["query"] = {}): string => {
  const encode = (text: string): string => encodeURIComponent(text).replaceAll("%24", "$");
  const pairs = Object.entries(query).map(([key, value]) => `${encode(key)}=${encode(`${value}`)}`);
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
};

/** One call on its way through the policies. */
interface Journey {
  readonly call: Call;
  readonly request: HttpRequest;
  readonly signal: AbortSignal;
}

const journeyOf = (parts: ClientParts, operation: Operation, options: CallOptions): Journey => {
  const { settings } = parts;
  // First of all: a bad id must not get any further.
  const path = pathOf(operation.template, options.id);
  const body = options.body === undefined ? undefined : JSON.stringify(options.body);
  const secrets = [...clientSecrets(settings), ...(options.secrets ?? [])];
  // Where nobody told the secrets of a body, nothing of it may be shown.
  const sent = options.secrets ? { body: options.body } : {};
  return {
    call: { operation, path, settings, secrets, ...sent },
    request: {
      method: operation.method,
      url: settings.baseUrl + path + queryText(options.query),
      headers: { ...parts.headers, ...(body ? { "content-type": "application/json" } : {}) },
      ...(body === undefined ? {} : { body }),
    },
    signal: options.signal ? AbortSignal.any([parts.signal, options.signal]) : parts.signal,
  };
};

/** A shared promise goes on without the caller who gives up waiting for it. */
const unlessGivenUp = <T>(promise: Promise<T>, { call, signal }: Journey): Promise<T> =>
  new Promise((resolve, reject) => {
    const giveUp = (): void => reject(givenUp(call));
    signal.addEventListener("abort", giveUp, { once: true });
    if (signal.aborted) giveUp();
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", giveUp));
  });

const sent = async (
  parts: ClientParts,
  { call, request, signal }: Journey,
  token: AccessToken,
): Promise<HttpResponse> => {
  try {
    const response = await parts.transport.send({
      ...request,
      headers: { ...request.headers, authorization: `Bearer ${token.value}` },
      ...(request.method === "GET" ? { signal } : {}),
    });
    parts.onAnswer?.(response);
    return response;
  } catch (error) {
    if (!(error instanceof TransportFailure))
      throw foreignError(error, [...call.secrets, token.value]);
    throw unanswered(call, error, request.url, signal);
  }
};

/** A 401 is answered once with a new token; a second one is final. Each attempt waits for its turn. */
const attempted = async (parts: ClientParts, journey: Journey): Promise<DatedAnswer> => {
  let used: AccessToken | undefined;
  const paced = (choose: () => Promise<AccessToken>): Promise<HttpResponse> =>
    parts.pace(
      journey.call.operation,
      async () => {
        // Chosen after the wait, which may be longer than the life of a token.
        used = await unlessGivenUp(choose(), journey);
        return sent(parts, journey, used);
      },
      journey.signal,
    );
  let response = await paced(() => parts.tokens.current());
  const refused = used;
  if (response.status === 401 && refused) {
    response = await paced(() => parts.tokens.after(refused));
  }
  const secrets = [
    ...journey.call.secrets,
    ...[refused, used].flatMap((token) => token?.value ?? []),
  ];
  const call = { ...journey.call, secrets, ...(used ? { token: used } : {}) };
  return answerOf(call, response, journey.request.url, journey.signal);
};

/** The policies in their order: repeat, then wait for a turn, then sign in, then send. */
export const datedRequest =
  (parts: ClientParts): DatedRequest =>
  async (operation, options = {}) => {
    const journey = journeyOf(parts, operation, options);
    return withRetry(
      () => attempted(parts, journey),
      (error, failures) => mayRepeat(operation, error, failures),
      { limits: parts.retry ?? {}, signal: journey.signal, clock: parts.clock },
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
