import { type Field, type Fields, object } from "../../definition/define.js";
import { fieldsByWireName, unwrapped } from "../../definition/wire.js";
import type { Clock } from "../../kernel/clock.js";
import type {
  ConversationError,
  ConversationErrorCode,
  ErrorDetails,
  ServiceNote,
} from "../../kernel/errors.js";
import { isObject, type JsonObject, jsonIn, memberOf, parseJson } from "../../kernel/json.js";
import { isId } from "../../kernel/object-id.js";
import { quoted } from "../../kernel/text.js";
import { shownText } from "../redaction.js";
import { addressAdvice, settingLabel } from "../settings.js";
import { type Call, callError, givenUp, possibleEffect } from "./call.js";
import { knownScopes } from "./operations.js";
import { connectionFault, type HttpResponse, type TransportFailure } from "./transport.js";

/** What the service answered to a call that it accepted (2xx). */
export interface Answer {
  /** HTTP status: 200 to 299. */
  readonly status: number;
  /** The JSON value; undefined where there is no body, or where the body of a PUT, PATCH or DELETE breaks off. */
  readonly body: unknown;
}

/** An answer, and what can be learnt from it besides. */
export interface DatedAnswer extends Answer {
  /** When it was made by the service's clock, in milliseconds since 1970. Left out: it does not say. */
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

/** Where the answer to a PUT, PATCH or DELETE breaks off, its status says all that callers want to know. */
const needsBody = ({ operation }: Call): boolean =>
  operation.method === "GET" || operation.method === "POST";

/** The error where not even the head of an answer came. */
export const unanswered = (call: Call, failure: TransportFailure): ConversationError => {
  const effect = failure.sent ? possibleEffect(call) : "none";
  if (call.signal.aborted && effect === "none") return givenUp(call);
  const { code, text, details } = connectionFault(failure, call.url);
  return callError(call, code, `failed: ${text}.`, details, effect);
};

/** The error about an accepted call whose answer is damaged; what a POST made, the answer may still show. */
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

const mostNotes = 30;

/** A note names the wrong attribute; the id that was sent there shows which object was meant. */
const noteOf = (
  { body, fields }: Call,
  { key, value }: JsonObject,
  shown: (value: unknown) => string,
): ServiceNote => {
  const sent = fields && typeof key === "string" ? sentId(fields, body, key) : undefined;
  return {
    key: shown(key),
    value: shown(value),
    ...(sent === undefined ? {} : { sent: quoted(sent) }),
  };
};

const notesOf = (
  call: Call,
  details: unknown,
  shown: (value: unknown) => string,
): readonly ServiceNote[] =>
  (Array.isArray(details) ? details : [])
    .slice(0, mostNotes)
    .filter(isObject)
    .map((note) => noteOf(call, note, shown))
    .filter(({ key, value }) => key !== "" || value !== "");

/** What the service says about a refusal, made fit for messages (specification §7, public reference). */
const detailsOf = (call: Call, response: HttpResponse): ErrorDetails => {
  const body = jsonIn(response.text);
  const shown = (value: unknown): string =>
    typeof value === "string" ? shownText(value, call.secrets) : "";
  if (!isObject(body)) return { status: response.status };
  const serviceCode = shown(body.code);
  const serviceMessage = shown(body.developerMessage);
  const serviceNotes = notesOf(call, body.details, shown);
  return {
    status: response.status,
    ...(serviceCode === "" ? {} : { serviceCode }),
    ...(serviceMessage === "" ? {} : { serviceMessage }),
    ...(serviceNotes.length === 0 ? {} : { serviceNotes }),
  };
};

/** Which scope is missing, as far as the token address said what it granted. */
const scopeAdvice = ({ operation, settings, token }: Call): string => {
  if (operation.scopes.length === 0) return "Check what the client application may do.";
  const wanted = operation.scopes.join(" or ");
  const granted = knownScopes(token?.scopes);
  const setting = settingLabel("scope", settings.profile);
  if (!granted) {
    return `The operation needs the scope ${wanted}. Check that the client application has it and that ${setting} asks for it.`;
  }
  if (operation.scopes.some((scope) => granted.includes(scope))) {
    return `The token has the scope that the operation needs (${wanted}), so the service refuses this client or this object for another reason.`;
  }
  return `The operation needs the scope ${wanted}; the token has only ${granted.join(", ")}. Give it to the client application, and ask for it in ${setting}.`;
};

const unauthorizedAdvice = ({ settings: { profile } }: Call): string =>
  `The token was fetched a moment ago. Check that ${settingLabel("baseUrl", profile)} and ${settingLabel("tokenUrl", profile)} belong to the same tenant.`;

/** What a missing object means, its caller knows; a collection is missing only at a wrong address. */
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
    const text = `was redirected (${status}), not followed: the token goes to the configured address only. Check ${base}.`;
    return failed("BAD_RESPONSE", text, { permanent: true });
  }
  if (status >= 500)
    return failed("UNAVAILABLE", `failed in the service ${quote}. Run again later.`);
  switch (status) {
    case 401:
      return failed("UNAUTHORIZED", `was refused ${quote}. ${unauthorizedAdvice(call)}`);
    case 403:
      return failed("FORBIDDEN", `is not allowed ${quote}. ${scopeAdvice(call)}`);
    case 404:
      return failed("NOT_FOUND", `found nothing ${quote}.${absenceAdvice(call)}`);
    default:
      return failed(
        "REJECTED",
        `was refused ${quote}. Correct what the service names and run again.`,
      );
  }
};

const longestPath = 200;

/** `bots[0].participant.id`, `/bots/0/participant/id` and `$.bots[0].participant.id` are the same path. */
const stepsOf = (path: string): readonly string[] =>
  path.split(/[.[\]/]+/).filter((step) => step !== "" && step !== "$");

/** The id at a place of the service's JSON; a reference ends there, or at the `id` of its object. */
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
 * What was sent at a path that the service names, where the definition says that it is the id of another
 * object; undefined for everything else, which nobody can know not to be a secret.
 */
const sentId = (fields: Fields, body: unknown, path: string): string | undefined => {
  if (path.length > longestPath) return undefined;
  const id = idAt(object({ doc: "The body.", fields }), body, stepsOf(path));
  return isId(id) ? id : undefined;
};

const lettersOf = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, " ");

const withoutStop = (text: string): string => text.replace(/\.$/, "");

/** What the service said, as messages quote it: `(400, 400-143: A required attribute is missing; name: missing)`. */
const serviceQuote = (details: ErrorDetails): string => {
  const { status, serviceCode, serviceMessage = "", serviceNotes = [] } = details;
  const sentences = new Map([
    [lettersOf(withoutStop(serviceMessage)), withoutStop(serviceMessage)],
  ]);
  for (const { key, value, sent } of serviceNotes) {
    const said = withoutStop([key, value].filter(Boolean).join(": "));
    const named = key && sent ? `${key} (${sent})` : key;
    // Notes often say the message once more.
    sentences.set(lettersOf(said), withoutStop([named, value].filter(Boolean).join(": ")));
  }
  const words = [...sentences.values()].filter(Boolean).join("; ");
  const head = [status, serviceCode].filter(Boolean).join(", ");
  return words === "" ? `(${head})` : `(${head}: ${words})`;
};

const httpDate = /^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** A clock that is before this was never set. */
const earliest = Date.UTC(2000, 0, 1);

/** How long an answer lay in a cache on the way (`Age`, RFC 9111 §5.1), in milliseconds. */
const ageOf = (age: unknown): number =>
  typeof age === "string" && /^\d{1,10}$/.test(age) ? Number(age) * 1000 : 0;

/**
 * What time it was at the service when an answer came, by its headers Date (RFC 9110 §6.6.1) and Age:
 * milliseconds since 1970. Undefined where the Date cannot be believed.
 */
const dateOf = ({ headers: { date, age } }: HttpResponse): number | undefined => {
  if (typeof date !== "string" || !httpDate.test(date)) return undefined;
  const ms = Date.parse(date);
  return ms >= earliest ? ms + ageOf(age) : undefined;
};

/** The service's own time. */
export interface ServiceTime {
  /** Learns from the Date header of an answer. */
  learn(response: HttpResponse): void;
  /**
   * Milliseconds since 1970: this machine's time as long as no answer showed another. Undefined if that
   * clock was never set.
   */
  now(): number | undefined;
}

/** This machine's wall clock, set right by the last answer that gave the time; good to about a second. */
export const serviceTime = (clock: Clock): ServiceTime => {
  let ahead: number | undefined;
  return {
    learn: (response) => {
      const date = dateOf(response);
      if (date !== undefined) ahead = date - clock.wall();
    },
    now: () => {
      if (ahead !== undefined) return clock.wall() + ahead;
      return clock.wall() < earliest ? undefined : clock.wall();
    },
  };
};
