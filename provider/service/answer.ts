import { type Field, type Fields, object } from "../definition/define.js";
import { fieldsByWireName, unwrapped } from "../definition/fields.js";
import {
  ConversationError,
  type ConversationErrorCode,
  type Effect,
  type ErrorDetails,
  type ServiceNote,
} from "../kernel/errors.js";
import {
  isObject,
  type JsonObject,
  jsonIn,
  listAt,
  memberOf,
  parseJson,
  withoutUndefined,
} from "../kernel/json.js";
import { isId } from "../kernel/object-id.js";
import { quoted } from "../kernel/text.js";
import { knownScopes, type Operation } from "./operations.js";
import { dateOf } from "./pace.js";
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
  /** The body as JSON text. Absent if there is none. */
  readonly text?: string;
  readonly body?: unknown;
  /** The fields in the body, if known. */
  readonly fields?: Fields;
  /**
   * Secrets that no message may show, even if the service echoes them. Looked up only when a
   * message needs them.
   */
  readonly secrets: () => readonly string[];
  readonly signal: AbortSignal;
  /** Token used in the last attempt. */
  readonly token?: AccessToken;
}

/** A call, including the token that it was sent with, and the response. */
export interface Exchange {
  readonly call: Call;
  readonly response: HttpResponse;
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

/** The response to a call that the service accepted (2xx). */
export interface Answer {
  /** HTTP status: 200 to 299. */
  readonly status: number;
  /**
   * The JSON value; undefined if there is no body, or if the body of a PUT, PATCH, or DELETE is incomplete.
   */
  readonly body: unknown;
}

/** A response with its arrival time and body length. */
export interface DatedAnswer extends Answer {
  /**
   * The service's time when the response arrived, in milliseconds since 1970. Absent if unknown.
   */
  readonly date?: number;
  /** Length of the body, in bytes. */
  readonly bytes: number;
}

/** An ID at the very start of a body that cannot be read completely. */
const leadingId = /^\s*\{\s*"id"\s*:\s*"([^"\\]{1,128})"/;

/** If the answer to a PUT, PATCH, or DELETE is cut off, its status is all that callers need. */
const needsBody = ({ operation }: Call): boolean =>
  operation.method === "GET" || operation.method === "POST";

/** The error for a call that received no response, not even headers. */
export const unansweredCall = (call: Call, failure: TransportFailure): ConversationError => {
  const effect = failure.sent ? possibleEffect(call) : "none";
  if (call.signal.aborted && effect === "none") return cancelledCall(call);
  const { code, text, details } = connectionFault(failure, call.url);
  return callError(call, code, `failed: ${text}.`, details, effect);
};

/**
 * The error about an accepted call whose answer is damaged; the answer may still show what a POST
 * created.
 */
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
  if (response.broken && call.signal.aborted && effect === "none") return cancelledCall(call);
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
    // A proxy in front of the service may answer instead of it: its status says nothing about the
    // call.
    const what = "the response is not JSON. Check that the base URL belongs to the service";
    throw damaged(exchange, "BAD_RESPONSE", what);
  }
};

/**
 * The response to a call that the service accepted.
 *
 * @throws ConversationError for every other status and for an unusable body
 */
export const judgeAnswer = (exchange: Exchange): DatedAnswer => {
  const { call, response } = exchange;
  const { status } = response;
  if (status < 200 || status > 299) throw refusal(call, response);
  if (response.broken && needsBody(call)) throw broken(exchange);
  const body = parsed(exchange);
  const bytes = Buffer.byteLength(response.text);
  return { status, body, bytes, ...withoutUndefined({ date: dateOf(response) }) };
};

const wrongAnswer = (
  operation: Operation,
  status: number,
  what: string,
  effect: Effect = "none",
): ConversationError =>
  new ConversationError(
    "BAD_RESPONSE",
    `Could not ${operation.title}: ${operation.method} ${operation.template} was accepted (${status}), but ${what}.`,
    { method: operation.method, template: operation.template, status },
    effect,
  );

/** The object in the response to a GET. */
export const readObject = (operation: Operation, { body, status }: Answer): JsonObject => {
  if (isObject(body)) return body;
  throw wrongAnswer(operation, status, "the response is not a JSON object");
};

/**
 * The object in the response to a POST. Fails if the response has no usable ID, because it is then
 * unknown which object was created, if any.
 */
export const readCreated = (operation: Operation, { body, status }: Answer) => {
  if (isObject(body) && isId(body.id)) return { ...body, id: body.id };
  throw wrongAnswer(operation, status, "the response has no usable ID", "unknown");
};

type Times = { readonly created?: string; readonly modified?: string };

/**
 * When an object was created or changed: the time that the response contains, otherwise the
 * response's arrival time. Absent if neither is known.
 */
export const readTimes = ({ body, date }: DatedAnswer, names: readonly (keyof Times)[]): Times =>
  Object.fromEntries(
    names.flatMap((name): [string, string][] => {
      const given = isObject(body) ? body[name] : undefined;
      if (typeof given === "string") return [[name, given]];
      return date === undefined ? [] : [[name, new Date(date).toISOString()]];
    }),
  );

const mostNotes = 30;

/**
 * The service's note names the wrong attribute; the ID that was sent in it shows which object was
 * meant.
 */
const noteOf = (
  { body, fields }: Call,
  { key, value }: JsonObject,
  shown: (value: unknown) => string,
): ServiceNote => {
  const sent = fields && typeof key === "string" ? sentId(fields, body, key) : undefined;
  return withoutUndefined({ key: shown(key), value: shown(value), sent: sent && quoted(sent) });
};

const notesOf = (
  call: Call,
  details: unknown,
  shown: (value: unknown) => string,
): readonly ServiceNote[] =>
  listAt(details)
    .slice(0, mostNotes)
    .filter(isObject)
    .map((note) => noteOf(call, note, shown))
    .filter(({ key, value }) => key !== "" || value !== "");

/**
 * The service's explanation of a refusal, made safe for messages (specification §7, public
 * reference).
 */
const detailsOf = (call: Call, response: HttpResponse): ErrorDetails => {
  const body = jsonIn(response.text);
  const secrets = call.secrets();
  const shown = (value: unknown): string =>
    typeof value === "string" ? shownText(value, secrets) : "";
  if (!isObject(body)) return { status: response.status };
  const notes = notesOf(call, body.details, shown);
  return withoutUndefined({
    status: response.status,
    serviceCode: shown(body.code) || undefined,
    serviceMessage: shown(body.developerMessage) || undefined,
    serviceNotes: notes.length > 0 ? notes : undefined,
  });
};

/** Names the missing scope, as far as the token URL reported what it granted. */
const scopeAdvice = ({ operation, settings, token }: Call): string => {
  if (operation.scopes.length === 0) return "Check the client application's permissions.";
  const wanted = operation.scopes.join(" or ");
  const granted = knownScopes(token?.scopes);
  const setting = settingLabel("scope", settings.profile);
  // A commercial tenant's only scope requests everything that the client application has.
  const isRequested = settings.scope.endsWith("/.default");
  if (!granted) {
    return `The operation needs the scope ${wanted}. Check that the client application has it${isRequested ? "" : ` and that ${setting} requests it`}.`;
  }
  if (operation.scopes.some((scope) => granted.includes(scope))) {
    return `The token has the scope that the operation needs (${wanted}), so the service refuses this client or this object for another reason. Check the client application's permissions.`;
  }
  return `The operation needs the scope ${wanted}; the token has only ${granted.join(", ")}. Add the scope to the client application${isRequested ? "" : `, and request it in ${setting}`}.`;
};

const unauthorizedAdvice = ({ settings: { profile } }: Call): string =>
  `The token was just issued, so check that ${settingLabel("baseUrl", profile)} and ${settingLabel("tokenUrl", profile)} belong to the same tenant.`;

/**
 * Only the caller knows what a missing object means; a collection is missing only at a wrong
 * address.
 */
const absenceAdvice = ({ operation, settings }: Call): string =>
  operation.template.includes("{id}") ? "" : ` ${addressAdvice(settings)}`;

/** The error for an answer whose status is not 2xx. */
const refusal = (call: Call, response: HttpResponse): ConversationError => {
  const { status } = response;
  const details = detailsOf(call, response);
  const quote = serviceQuote(details);
  // Redirects say that the request was not acted on; 303 says the opposite.
  const effect = status >= 500 || status === 303 ? possibleEffect(call) : "none";
  const failed = (code: ConversationErrorCode, text: string, more: ErrorDetails = {}) =>
    callError(call, code, text, { ...details, ...more }, effect);
  if (status < 400) {
    const base = settingLabel("baseUrl", call.settings.profile);
    const text = `was redirected (${status}), but the client sends the token only to the configured URL and does not follow redirects. Check ${base}.`;
    return failed("BAD_RESPONSE", text, { permanent: true });
  }
  if (status >= 500)
    return failed("UNAVAILABLE", `failed in the service ${quote}. Try again later.`);
  switch (status) {
    case 401:
      return failed("UNAUTHORIZED", `was refused ${quote}. ${unauthorizedAdvice(call)}`);
    case 403:
      return failed("FORBIDDEN", `is not allowed ${quote}. ${scopeAdvice(call)}`);
    case 404:
      return failed("NOT_FOUND", `found nothing ${quote}.${absenceAdvice(call)}`);
    default: {
      const isExplained =
        details.serviceMessage !== undefined || details.serviceNotes !== undefined;
      const isUnknown = details.serviceCode === "400-420";
      const advice = isUnknown
        ? "The service does not know the members that it names, so it differs from its description: please report it."
        : isExplained
          ? "Fix the problem that the service reports, and try again."
          : "The service gave no reason.";
      return failed("REJECTED", `was refused ${quote}. ${advice}`);
    }
  }
};

const longestPath = 200;

/** `bots[0].participant.id`, `/bots/0/participant/id`, and `$.bots[0].participant.id` are the same path. */
const stepsOf = (path: string): readonly string[] =>
  path.split(/[.[\]/]+/).filter((step) => step !== "" && step !== "$");

/**
 * The ID at a place in the service's JSON; a reference ends there, or at the `id` of its object.
 */
const idAt = (field: Field, value: unknown, steps: readonly string[]): unknown => {
  const [step = "", ...rest] = steps;
  switch (field.type) {
    case "reference":
      return rest.length === 0 && ["", "id"].includes(step) ? unwrapped("id", value) : undefined;
    case "object": {
      const [, member] = fieldsByWireName(field.fields).get(step) ?? [];
      return member && isObject(value) ? idAt(member, memberOf(value, step), rest) : undefined;
    }
    case "list": {
      const isWrapped = field.envelope !== undefined && step === field.envelope;
      const [place = "", ...below] = isWrapped ? rest : steps;
      const items = unwrapped(field.envelope, value);
      return Array.isArray(items) && /^\d{1,4}$/.test(place)
        ? idAt(field.of, items[Number(place)], below)
        : undefined;
    }
    default:
      return undefined;
  }
};

/**
 * The value sent at a path that the service names, if the definition declares it as the ID of
 * another object; undefined for everything else, because it may be a secret.
 */
const sentId = (fields: Fields, body: unknown, path: string): string | undefined => {
  if (path.length > longestPath) return undefined;
  const id = idAt(object({ doc: "The body.", fields }), body, stepsOf(path));
  return isId(id) ? id : undefined;
};

const lettersOf = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, " ");

const withoutStop = (text: string): string => text.replace(/\.$/, "");

/**
 * The service's explanation, as messages quote it: `(400, 400-143: A required attribute is missing;
 * name: missing)`.
 */
const serviceQuote = (details: ErrorDetails): string => {
  const { status, serviceCode, serviceMessage = "", serviceNotes = [] } = details;
  const sentences = new Map([
    [lettersOf(withoutStop(serviceMessage)), withoutStop(serviceMessage)],
  ]);
  for (const { key, value, sent } of serviceNotes) {
    const said = withoutStop([key, value].filter(Boolean).join(": "));
    const named = key && sent ? `${key} (${sent})` : key;
    // Notes often repeat the message.
    sentences.set(lettersOf(said), withoutStop([named, value].filter(Boolean).join(": ")));
  }
  const words = [...sentences.values()].filter(Boolean).join("; ");
  const head = [status, serviceCode].filter(Boolean).join(", ");
  return words === "" ? `(${head})` : `(${head}: ${words})`;
};
