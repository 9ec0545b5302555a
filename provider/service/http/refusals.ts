import { type Field, type Fields, object } from "../../definition/define.js";
import { fieldsByWireName, unwrapped } from "../../definition/wire.js";
import type {
  ConversationError,
  ConversationErrorCode,
  ErrorDetails,
  ServiceNote,
} from "../../kernel/errors.js";
import { isObject, type JsonObject, memberOf } from "../../kernel/json.js";
import { jsonIn } from "../../kernel/json-text.js";
import { isId } from "../../kernel/object-id.js";
import { quoted } from "../../kernel/quoted.js";
import { shownText } from "../redaction/redaction.js";
import { serviceQuote } from "../redaction/service-quote.js";
import { addressAdvice, settingLabel } from "../settings/settings.js";
import { type Call, callError, possibleEffect } from "./call.js";
import { knownScopes } from "./operations.js";
import type { HttpResponse } from "./transport.js";

const mostNotes = 30;

/** A note tells which attribute is wrong; the id that was sent there tells which object was meant. */
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

/** Which scope is missing, as far as the token address told what it granted. */
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
export const refusal = (call: Call, response: HttpResponse): ConversationError => {
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
