import type { ConversationError, Effect, ErrorDetails } from "../../kernel/errors.js";
import { parseJson } from "../../kernel/json.js";
import { isId } from "../../kernel/object-id.js";
import { dateOf } from "../objects/service-time.js";
import { type Call, callError, givenUp, possibleEffect } from "./call.js";
import { refusal } from "./refusals.js";
import type { HttpResponse, TransportFailure } from "./transport.js";
import { connectionFault } from "./transport-faults.js";

/** What the service answered to a call that it accepted (2xx). */
export interface Answer {
  readonly status: number;
  /** The JSON value; undefined where there is no body, or none that can be read after a PUT, PATCH or DELETE. */
  readonly body: unknown;
}

/** An answer, and what can be learnt from it besides. */
export interface DatedAnswer extends Answer {
  /** A body is there, but it is no JSON. */
  readonly unreadable?: true;
  /** When it was made by the service's clock, in milliseconds since 1970. Left out: it does not tell. */
  readonly date?: number;
}

/** An id at the very start of a body that cannot be read to its end. */
const leadingId = /^\s*\{\s*"id"\s*:\s*"([^"\\]{1,128})"/;

const isSuccess = (status: number): boolean => status >= 200 && status <= 299;

/** The status alone tells all that callers want to know of a PUT, PATCH or DELETE. */
const needsBody = ({ operation }: Call): boolean =>
  operation.method === "GET" || operation.method === "POST";

/** What an accepted POST did, as far as its damaged answer tells. */
const damage = (
  call: Call,
  response: HttpResponse,
): { readonly effect: Effect; readonly details: ErrorDetails } => {
  const id = leadingId.exec(response.text)?.[1];
  const { status } = response;
  if (call.operation.method === "POST" && isId(id)) {
    return { effect: "done", details: { status, objectId: id } };
  }
  return { effect: possibleEffect(call), details: { status } };
};

/** The error where not even the head of an answer came. */
export const unanswered = (
  call: Call,
  failure: TransportFailure,
  url: string,
  signal?: AbortSignal,
): ConversationError => {
  const effect = failure.sent ? possibleEffect(call) : "none";
  if (signal?.aborted && effect === "none") return givenUp(call);
  const fault = connectionFault(failure, url);
  const details = fault.permanent ? { permanent: true as const } : {};
  return callError(call, fault.code, `failed: ${fault.text}.`, details, effect);
};

const broken = (call: Call, response: HttpResponse, url: string, signal?: AbortSignal) => {
  const { effect, details } = damage(call, response);
  if (signal?.aborted && effect === "none") return givenUp(call);
  const fault = connectionFault({ cause: response.broken, sent: true }, url);
  const lasting = fault.permanent ? { permanent: true as const } : {};
  const text = `was accepted (${response.status}), but failed: ${fault.text}.`;
  return callError(call, fault.code, text, { ...details, ...lasting }, effect);
};

const unreadable = (call: Call, response: HttpResponse): ConversationError => {
  const { effect, details } = damage(call, response);
  const text = `was accepted (${response.status}), but its answer is not JSON. Check that the base address is the service's own.`;
  return callError(call, "BAD_RESPONSE", text, details, effect);
};

const parsed = (call: Call, response: HttpResponse): unknown => {
  if (response.text.trim() === "" && call.operation.method !== "GET") return undefined;
  try {
    return parseJson(response.text);
  } catch {
    if (!needsBody(call)) return undefined;
    throw unreadable(call, response);
  }
};

/**
 * The answer of a call that the service accepted.
 *
 * @throws ConversationError for every other status and for a body that cannot be used
 */
export const answerOf = (
  call: Call,
  response: HttpResponse,
  url: string,
  signal?: AbortSignal,
): DatedAnswer => {
  if (!isSuccess(response.status)) throw refusal(call, response);
  if (response.broken && needsBody(call)) throw broken(call, response, url, signal);
  const body = parsed(call, response);
  const date = dateOf(response);
  return {
    status: response.status,
    body,
    ...(body === undefined && response.text.trim() !== "" ? { unreadable: true as const } : {}),
    ...(date === undefined ? {} : { date }),
  };
};
