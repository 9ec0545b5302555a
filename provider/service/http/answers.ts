import type { ConversationError, ErrorDetails } from "../../kernel/errors.js";
import { parseJson } from "../../kernel/json-text.js";
import { isId } from "../../kernel/object-id.js";
import { dateOf } from "../objects/service-time.js";
import { type Call, callError, givenUp, possibleEffect } from "./call.js";
import { refusal } from "./refusals.js";
import type { HttpResponse, TransportFailure } from "./transport.js";
import { connectionFault } from "./transport-faults.js";

/** What the service answered to a call that it accepted (2xx). */
export interface Answer {
  /** HTTP status: 200 to 299. */
  readonly status: number;
  /** The JSON value; undefined where there is no body, or where the body of a PUT, PATCH or DELETE breaks off. */
  readonly body: unknown;
}

/** An answer, and what can be learnt from it besides. */
export interface DatedAnswer extends Answer {
  /** When it was made by the service's clock, in milliseconds since 1970. Left out: it does not tell. */
  readonly date?: number;
  /** Length of its body. */
  readonly bytes: number;
}

/** A call with the token that it was sent with, and what came back. */
export interface Exchange {
  readonly call: Call;
  readonly response: HttpResponse;
}

/** An id at the very start of a body that cannot be read to its end. */
const leadingId = /^\s*\{\s*"id"\s*:\s*"([^"\\]{1,128})"/;

/** Where the answer to a PUT, PATCH or DELETE breaks off, its status tells all that callers want to know. */
const needsBody = ({ operation }: Call): boolean =>
  operation.method === "GET" || operation.method === "POST";

/** The error where not even the head of an answer came. */
export const unanswered = (call: Call, failure: TransportFailure): ConversationError => {
  const effect = failure.sent ? possibleEffect(call) : "none";
  if (call.signal.aborted && effect === "none") return givenUp(call);
  const { code, text, details } = connectionFault(failure, call.url);
  return callError(call, code, `failed: ${text}.`, details, effect);
};

/** The error about an accepted call whose answer is damaged; what a POST made, the answer may still tell. */
const damaged = (
  { call, response }: Exchange,
  code: ConversationError["code"],
  what: string,
  more: ErrorDetails = {},
): ConversationError => {
  const { status, text } = response;
  const id = leadingId.exec(text)?.[1];
  const isMade = call.operation.method === "POST" && isId(id);
  const effect = isMade ? "done" : possibleEffect(call);
  if (response.broken && call.signal.aborted && effect === "none") return givenUp(call);
  const details = { status, ...(isMade ? { objectId: id } : {}), ...more };
  return callError(call, code, `was accepted (${status}), but ${what}.`, details, effect);
};

const broken = (exchange: Exchange): ConversationError => {
  const failure = { cause: exchange.response.broken, sent: true };
  const { code, text, details } = connectionFault(failure, exchange.call.url);
  return damaged(exchange, code, `failed: ${text}`, details);
};

const parsed = (exchange: Exchange): unknown => {
  const { call, response } = exchange;
  if (response.text.trim() === "" && call.operation.method !== "GET") return undefined;
  try {
    return parseJson(response.text);
  } catch {
    if (response.broken) return undefined;
    // A page in front of the service may answer in its place: its status says nothing of the call.
    const what = "its answer is not JSON. Check that the base address is the service's own";
    throw damaged(exchange, "BAD_RESPONSE", what);
  }
};

/**
 * The answer of a call that the service accepted.
 *
 * @throws ConversationError for every other status and for a body that cannot be used
 */
export const answerOf = (exchange: Exchange): DatedAnswer => {
  const { call, response } = exchange;
  const { status } = response;
  if (status < 200 || status > 299) throw refusal(call, response);
  if (response.broken && needsBody(call)) throw broken(exchange);
  const body = parsed(exchange);
  const date = dateOf(response);
  return {
    status,
    body,
    bytes: Buffer.byteLength(response.text),
    ...(date === undefined ? {} : { date }),
  };
};
