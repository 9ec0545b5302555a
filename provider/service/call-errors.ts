import {
  ConversationError,
  type ConversationErrorCode,
  type Effect,
  type ErrorDetails,
} from "../kernel/errors.js";
import { isObject, jsonIn, listedObjects, withoutUndefined } from "../kernel/json.js";
import { isId } from "../kernel/object-id.js";
import { knownScopes, type Operation } from "./operations.js";
import { shownText } from "./redaction.js";
import { addressAdvice, type Settings, settingLabel } from "./settings.js";
import type { AccessToken } from "./token.js";
import { connectionFault, type HttpResponse, type TransportFailure } from "./transport.js";

/** One call to an operation with everything it needs, prepared once before anything is sent. */
export interface Call {
  readonly operation: Operation;
  readonly settings: Settings;
  /** Path relative to the base URL, including the ID. */
  readonly path: string;
  /** The complete URL, including the query. */
  readonly url: string;
  /** The body as JSON text, if there is one. */
  readonly text: string | undefined;
  /** The tokens that it was sent with: one for each attempt. */
  readonly tokens: AccessToken[];
  /**
   * Secrets that no message may show, even if the service echoes them. Looked up only when a
   * message needs them.
   */
  readonly secrets: () => readonly string[];
  readonly signal: AbortSignal;
}

/** The possible effect if the service may have acted: a read has none. */
const possibleEffect = ({ operation }: Call): Effect =>
  operation.method === "GET" ? "none" : "unknown";

/** An error about a call: `Could not read channel: GET /channels/4f…`, then `rest`. */
const callError = (
  { operation: { method, template, title }, path }: Call,
  code: ConversationErrorCode,
  rest: string,
  details: ErrorDetails = {},
  effect: Effect = "none",
): ConversationError =>
  new ConversationError(
    code,
    `Could not ${title}: ${method} ${path} ${rest}`,
    { method, template, ...details },
    effect,
  );

/**
 * The error for a call that was canceled before anything was sent, or while only a read was in
 * progress.
 */
export const cancelledCall = (call: Call): ConversationError =>
  callError(call, "CANCELLED", "was canceled. Nothing was changed.");

/** The error for a call that received no response, not even headers. */
export const unansweredCall = (call: Call, failure: TransportFailure): ConversationError => {
  const effect = failure.sent ? possibleEffect(call) : "none";
  if (call.signal.aborted && effect === "none") return cancelledCall(call);
  const { code, text, details } = connectionFault(failure, call.url);
  return callError(call, code, `failed: ${text}.`, details, effect);
};

/** The error for an accepted call of whose answer only a part arrived. */
export const brokenAnswer = (
  call: Call,
  response: HttpResponse,
  cause: Error,
): ConversationError => {
  const { code, text, details } = connectionFault({ cause, sent: true }, call.url);
  return damagedAnswer(call, response, code, `failed: ${text}`, details);
};

/** An ID at the very start of a body that cannot be read completely. */
const leadingId = /^\s*\{\s*"id"\s*:\s*"([^"\\]{1,128})"/;

/**
 * The error for an accepted call whose answer is damaged; the answer may still show what a POST
 * created.
 */
export const damagedAnswer = (
  call: Call,
  { status, text, broken }: HttpResponse,
  code: ConversationErrorCode,
  what: string,
  more: ErrorDetails = {},
): ConversationError => {
  const id = leadingId.exec(text)?.[1];
  const isMade = call.operation.method === "POST" && isId(id);
  const effect = isMade ? "done" : possibleEffect(call);
  if (broken && call.signal.aborted && effect === "none") return cancelledCall(call);
  const details = { status, ...(isMade ? { objectId: id } : {}), ...more };
  return callError(call, code, `was accepted (${status}), but ${what}.`, details, effect);
};

/** The error for an answer whose status is not 2xx. */
export const refusedCall = (call: Call, response: HttpResponse): ConversationError => {
  const { status } = response;
  const label = (key: "baseUrl" | "tokenUrl") => settingLabel(key, call.settings.profile);
  const details = readDetails(call, response);
  const quote = quoteService(details);
  // Redirects say that the request was not acted on; 303 says the opposite.
  const effect = status >= 500 || status === 303 ? possibleEffect(call) : "none";
  const failed = (code: ConversationErrorCode, text: string, more: ErrorDetails = {}) =>
    callError(call, code, text, { ...details, ...more }, effect);
  if (status < 400) {
    const text = `was redirected (${status}), but the client sends the token only to the configured URL and does not follow redirects. Check ${label("baseUrl")}.`;
    return failed("BAD_RESPONSE", text, { permanent: true });
  }
  if (status >= 500)
    return failed("UNAVAILABLE", `failed in the service ${quote}. Try again later.`);
  switch (status) {
    case 401: {
      const advice = `The token was just issued, so check that ${label("baseUrl")} and ${label("tokenUrl")} belong to the same tenant.`;
      return failed("UNAUTHORIZED", `was refused ${quote}. ${advice}`);
    }
    case 403:
      return failed("FORBIDDEN", `is not allowed ${quote}. ${adviseScope(call)}`);
    case 404: {
      // Only the caller knows what a missing object means; a collection is missing only at a wrong
      // address.
      const isObject = call.operation.template.includes("{id}");
      const advice = isObject ? "" : ` ${addressAdvice(call.settings)}`;
      return failed("NOT_FOUND", `found nothing ${quote}.${advice}`);
    }
    default:
      return failed("REJECTED", `was refused ${quote}. ${adviseChange(details)}`);
  }
};

/** Names the missing scope, as far as the token URL reported what it granted. */
const adviseScope = ({ operation, settings, tokens }: Call): string => {
  const check = "Check the client application's permissions.";
  if (operation.scopes.length === 0) return check;
  const wanted = operation.scopes.join(" or ");
  const granted = knownScopes(tokens.at(-1)?.scopes);
  if (operation.scopes.some((scope) => granted?.includes(scope)))
    return `The token has the scope that the operation needs (${wanted}), so the service refuses this client or this object for another reason. ${check}`;
  const held = granted ? `; the token has only ${granted.join(", ")}` : "";
  return `The operation needs the scope ${wanted}${held}. Check that the client application has it, and that ${settingLabel("scope", settings.profile)} requests it.`;
};

const adviseChange = ({ serviceCode, serviceMessage, serviceNotes }: ErrorDetails): string => {
  if (serviceCode === "400-420")
    return "The service does not know the members that it names, so it differs from its description: please report it.";
  return serviceMessage === undefined && serviceNotes === undefined
    ? "The service gave no reason."
    : "Fix the problem that the service reports, and try again.";
};

/** The vendor's description allows no more. */
const mostNotes = 30;

/**
 * The service's explanation of a refusal, made safe for messages (specification §7, public
 * reference).
 */
const readDetails = (call: Call, { status, text }: HttpResponse): ErrorDetails => {
  const body = jsonIn(text);
  if (!isObject(body)) return { status };
  const secrets = call.secrets();
  const show = (value: unknown): string =>
    typeof value === "string" ? shownText(value, secrets) : "";
  const notes = listedObjects(body.details)
    .slice(0, mostNotes)
    .map(({ key, value }) => ({ key: show(key), value: show(value) }))
    .filter(({ key, value }) => key !== "" || value !== "");
  return withoutUndefined({
    status,
    serviceCode: show(body.code) || undefined,
    serviceMessage: show(body.developerMessage) || undefined,
    serviceNotes: notes.length > 0 ? notes : undefined,
  });
};

/**
 * The service's explanation, as messages quote it: `(400, 400-143: A required attribute is missing;
 * name: missing)`.
 */
const quoteService = (details: ErrorDetails): string => {
  const { status, serviceCode, serviceMessage = "", serviceNotes = [] } = details;
  const notes = serviceNotes
    // Notes often repeat the message.
    .filter(({ key, value }) => !(serviceMessage.includes(key) && serviceMessage.includes(value)))
    .map(({ key, value }) => [key, value].filter(Boolean).join(": "));
  const words = [serviceMessage, ...notes].filter(Boolean).map((text) => text.replace(/\.$/, ""));
  const head = [status, serviceCode].filter(Boolean).join(", ");
  return words.length === 0 ? `(${head})` : `(${head}: ${words.join("; ")})`;
};
