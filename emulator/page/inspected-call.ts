import { isObject, type JsonObject, jsonIn } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { routes } from "../hub/routes.js";
import { mask, shownMembers } from "../objects/secrets.js";
import type { CallLog, KeptBody, ShownCall } from "../service/calls.js";

/** Signed URLs are as good as a token. */
const withoutSigned = (body: JsonObject): JsonObject =>
  "contentUrl" in body ? { ...body, contentUrl: mask } : body;

/** A body of this call with its secrets hidden; undefined if nothing says what is secret in it. */
const hidden = (call: ShownCall, body: unknown, isAnswer: boolean): unknown => {
  // The service's own sentences repeat no value.
  if (isAnswer && call.status >= 400) return body;
  const collection = call.template.split("/")[1];
  const definition = resources.find((each) => each.collection === collection);
  if (!definition) {
    const isKnown = routes.some(({ template }) => template === call.template);
    return isKnown && isObject(body) ? withoutSigned(body) : undefined;
  }
  const { fields, listKey } = definition;
  const items = isAnswer && isObject(body) ? body[listKey] : undefined;
  if (!isObject(body) || !Array.isArray(items)) return shownMembers(fields, body);
  return { ...body, [listKey]: items.map((item) => shownMembers(fields, item)) };
};

/**
 * A body as the page shows it: its size in bytes, and its JSON with asterisks in place of secrets.
 * There is none if the body was too large to be kept, is not JSON, or may contain secrets that no
 * definition identifies.
 */
const showBody = (call: ShownCall, { size, text }: KeptBody, isAnswer: boolean) => {
  const body = text === undefined ? undefined : jsonIn(text);
  return { size, json: body === undefined ? undefined : hidden(call, body, isAnswer) };
};

/**
 * What the page shows about one call: the request, the response, and the fault that it met, if any.
 * Undefined if the call is no longer stored.
 *
 * @param place in the log
 */
export const inspectedCall = (log: CallLog, place: number) => {
  const found = log.callAt(place);
  if (!found) return undefined;
  const { entry, content } = found;
  const { sent, answer, fault } = content;
  return {
    place,
    sent: sent && showBody(entry, sent, false),
    answer: answer && showBody(entry, answer, true),
    fault,
  };
};

/** A call with all the details that the page shows. */
export type InspectedCall = NonNullable<ReturnType<typeof inspectedCall>>;
