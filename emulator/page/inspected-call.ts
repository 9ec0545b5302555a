import { isObject, type JsonObject, jsonIn, objectOf } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { isDeeperThan, mostDepth } from "../http/exchange.js";
import { routes } from "../hub/routes.js";
import { mask, shownMembers } from "../objects/secrets.js";
import type { CallContent, CallLog, Check, KeptBody, ShownCall } from "../service/calls.js";

/** Why a call is refused, in one sentence, and the documentation section with more information. */
const explain = (rule: string, section: string, page = "troubleshooting.md") => ({
  rule,
  section,
  /** In the `docs` folder. */
  page,
});

type CallExplanation = ReturnType<typeof explain>;

/** By the check that refused. */
const byCheck: Readonly<Record<Exclude<Check, "operation">, CallExplanation>> = {
  credentials: explain("The client ID, secret, and scope must be valid.", "CREDENTIALS_REFUSED"),
  size: explain("A body must not be larger than 2 MiB.", "REJECTED"),
  path: explain("The path must exist and support the method.", "NOT_FOUND"),
  token: explain("A call needs a valid token.", "UNAUTHORIZED"),
  rate: explain("The endpoint's token bucket was empty.", "THROTTLED"),
  fault: explain("A fault was requested.", "Faults", "emulator.md"),
  scope: explain("The token must have a scope that allows the call.", "FORBIDDEN"),
};

/** By an operation's error code, or by the end of the code; the last one covers all others. */
const byCode: Readonly<Record<string, CallExplanation>> = {
  "404-101": explain("The object in the path must exist and be complete.", "NOT_FOUND"),
  "403-197": explain("The client must be allowed to list the collection.", "FORBIDDEN"),
  "-113": explain("An object in use cannot be deleted.", "IN_USE"),
  "": explain("The request violates a rule.", "REJECTED"),
};

const failure = explain("The service failed.", "UNAVAILABLE");

const explanationOf = ({ status, reason = "" }: ShownCall, { check }: CallContent) => {
  if (status > 0 && status < 400) return undefined;
  if (check !== "operation") return byCheck[check];
  if (status >= 500 || status === 0) return failure;
  const [code = ""] = reason.split(" ");
  return Object.entries(byCode).find(([end]) => code.endsWith(end))?.[1];
};

const definitionOf = ({ template }: ShownCall) =>
  resources.find(({ collection }) => collection === template.split("/")[1]);

/** Signed URLs are as good as a token. */
const signedMembers = ["contentUrl"];

const withoutSigned = (body: JsonObject): JsonObject =>
  objectOf(Object.entries(body).map(([n, v]) => [n, signedMembers.includes(n) ? mask : v]));

/** A body of this call with its secrets hidden; undefined if nothing says what is secret in it. */
const hidden = (call: ShownCall, body: unknown, isAnswer: boolean): unknown => {
  // The service's own sentences repeat no value.
  if (isAnswer && call.status >= 400) return body;
  const definition = definitionOf(call);
  if (!definition) {
    const isKnown = routes.some(({ template }) => template === call.template);
    return isKnown && isObject(body) ? withoutSigned(body) : undefined;
  }
  const { fields, listKey } = definition;
  const items = isAnswer && isObject(body) ? body[listKey] : undefined;
  if (!isObject(body) || !Array.isArray(items)) return shownMembers(fields, body);
  return { ...body, [listKey]: items.map((item) => shownMembers(fields, item)) };
};

/** A body as the page shows it. */
export interface ShownBody {
  /** Size in bytes. */
  readonly size: number;
  /** The body's JSON, with asterisks in place of secrets. */
  readonly json?: unknown;
  /** Why `json` is absent. */
  readonly note?: string;
}

const shownBody = (call: ShownCall, kept: KeptBody, isAnswer: boolean): ShownBody => {
  const { size, text } = kept;
  if (text === undefined) return { size, note: "is too large to be kept" };
  const body = jsonIn(text);
  if (body === undefined) return { size, note: "is not JSON" };
  if (isDeeperThan(mostDepth, body)) return { size, note: "is nested too deeply" };
  const json = hidden(call, body, isAnswer);
  if (json === undefined)
    return { size, note: "may contain secrets that no definition identifies" };
  return { size, json };
};

/**
 * What the page shows about one call: the request, the response, and the rule that refused the
 * call, if any. Undefined if the call is no longer stored.
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
    sent: sent && shownBody(entry, sent, false),
    answer: answer && shownBody(entry, answer, true),
    explanation: explanationOf(entry, content),
    fault,
  };
};

/** A call with all the details that the page shows. */
export type InspectedCall = NonNullable<ReturnType<typeof inspectedCall>>;
