import type { IncomingMessage, ServerResponse } from "node:http";
import type { Definition } from "../../provider/definition/define.js";
import { jsonIn, listAt, textAt } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { collectionOperations } from "../objects/collections.js";
import {
  createAssetRecord,
  deleteAssetRecord,
  getAssetRecord,
} from "../runtime/asset-operations.js";
import { getConversation, sendMessages } from "../runtime/conversation-operations.js";
import { timestamp } from "../service/clock.js";
import { beforeOperation, type FaultRule, sendWithFault } from "../service/faults.js";
import type { EmulatedService, OperationHandler } from "../service/service.js";
import { assertScope, type ScopeLabel } from "../token/tokens.js";
import {
  type CallContent,
  type Check,
  type KeptBody,
  keptBody,
  longestKept,
  type ShownCall,
} from "./call-log.js";
import {
  failureOf,
  HttpError,
  noResponse,
  readBody,
  reasonOf,
  type ServiceResponse,
  sendResponse,
  serialised,
} from "./exchange.js";
import type { SiblingRates } from "./rate-limit.js";

/** An operation of the conversation service or another service. */
export interface Route {
  readonly method: string;
  readonly template: string;
  /** The endpoint's name in rates, logs, and faults, such as `POST /channels`. */
  readonly name: string;
  /** Any one of these scopes suffices. If empty, any client or user may call the operation. */
  readonly scopes: readonly ScopeLabel[];
  /** The operation's own rates; if omitted, the conversation service's rates apply. */
  readonly rates?: SiblingRates;
  readonly carryOut: OperationHandler;
}

const route = (name: string, scopes: readonly ScopeLabel[], carryOut: OperationHandler): Route => {
  const [method = "", template = ""] = name.split(" ");
  return { method, template, name, scopes, carryOut };
};

const collectionRoutes = (definition: Definition): Route[] => {
  const { collection, listScopes } = definition;
  const { create, list, get, update, remove } = collectionOperations(definition);
  return [
    route(`POST /${collection}`, ["M"], create),
    route(`GET /${collection}`, listScopes ? ["M"] : ["M", "R"], list),
    route(`GET /${collection}/{id}`, ["M", "R"], get),
    route(`PUT /${collection}/{id}`, ["M"], update),
    route(`DELETE /${collection}/{id}`, ["M"], remove),
  ];
};

const messagesTemplate = "/conversations/messages";

/** Every operation in §4 of the specification. */
export const routes: readonly Route[] = [
  ...resources.flatMap(collectionRoutes),
  route(`POST ${messagesTemplate}`, ["IM"], sendMessages),
  route("GET /conversations/{id}", ["IM", "IR"], getConversation),
  route("POST /assets", ["IM"], createAssetRecord),
  route("GET /assets/{id}", ["IM", "IR"], getAssetRecord),
  route("DELETE /assets/{id}", ["IM"], deleteAssetRecord),
];

/** Paths without a variable part come first: `/conversations/messages` is no conversation. */
const byPath = new Map<string, Map<string, Route>>();
for (const each of routes) {
  const methods = byPath.get(each.template) ?? new Map<string, Route>();
  byPath.set(each.template, methods.set(each.method, each));
}

/** The operations of a path. */
interface PathMatch {
  readonly methods: ReadonlyMap<string, Route>;
  readonly template: string;
  /** The value of `{id}`. */
  readonly id: string;
}

/** The operations at a path relative to the base path; undefined if the path is unknown. */
export const matchPath = (path: string): PathMatch | undefined => {
  const exact = path.includes("{") ? undefined : byPath.get(path);
  if (exact) return { methods: exact, template: path, id: "" };
  const [, collection = "", id = "", ...more] = path.split("/");
  const template = `/${collection}/{id}`;
  const methods = byPath.get(template);
  return methods && id !== "" && more.length === 0 ? { methods, template, id } : undefined;
};

/** @throws HttpError if the service does not have the path or the method */
const routeFor = (match: PathMatch | undefined, method: string): Route => {
  if (!match) throw new HttpError(404, "404-100", "This path does not exist.");
  const found = match.methods.get(method);
  if (found) return found;
  const allow = [...match.methods.keys()].join(", ");
  throw new HttpError(405, "405-100", `${match.template} allows ${allow}.`, [], { allow });
};

interface SiblingService {
  readonly name: string;
  readonly versions: readonly string[];
  readonly rates: SiblingRates;
  /** Endpoints with their own rates; a placeholder matches any single segment. */
  readonly special: Readonly<Record<string, SiblingRates>>;
}

/** One row of the table: name, versions, rates, endpoints with their own rates. */
const row = (
  name: string,
  versions: string,
  rates: SiblingRates,
  special: Readonly<Record<string, SiblingRates>> = {},
): SiblingService => ({ name, versions: versions.split(" "), rates, special });

const sameFor = (rates: SiblingRates, ...endpoints: string[]) =>
  Object.fromEntries(endpoints.map((endpoint) => [endpoint, rates]));

/**
 * The services that share the plans, with their rates: specification §8.3. Independent on purpose:
 * if it used the provider's table, a wrong rate there would look right here.
 */
const siblingServices: readonly SiblingService[] = [
  row(
    "Message Router",
    "v3",
    [0.16, 0.5, 0.5],
    sameFor(
      [0.16, 0.5, 1],
      ...[
        "agentavailability",
        "capacity",
        "checkeligibility",
        "chatallowed",
        "livesessionstatus",
      ].map((last) => `GET /entrypoint/{id}/${last}`),
    ),
  ),
  row(
    "Notification Manager",
    "v3",
    [0.16, 0.5, 1],
    sameFor([0.16, 1, 5], "POST /messages", "POST /assets"),
  ),
  row("Secure Messaging Manager", "v3", [0.16, 0.5, 1]),
  row("AI Services", "v3", [0.16, 0.3, 1], {
    ...sameFor([10, 20, 40], "GET /instantanswers/suggestions"),
    ...sameFor([0.16, 0.3, 30], "GET /instantanswers/generative", "GET /instantanswers/extractive"),
  }),
  row("AI Services", "v4", [30, 30, 30]),
  row("Auth Manager", "v3", [1, 10, 60]),
  row("Case Manager", "v3", [0.16, 0.5, 1]),
  row("Customer Manager", "v3", [0.16, 0.5, 1]),
  row("Department Manager", "v3 v4", [0.16, 0.16, 0.5]),
  row("Events Channel", "v3", [0.16, 0.16, 0.5]),
  row("File Manager", "v3", [0.16, 0.5, 0.5]),
  row("Info Manager", "v3 v4", [0.16, 0.16, 0.5]),
  row("Integration Manager", "v4", [0.16, 0.5, 1]),
  row("Micro Services Manager", "v3", [0.16, 0.5, 1]),
  row("Personalization Manager", "v4", [0.16, 0.5, 1]),
  row(
    "User Manager",
    "v3",
    [1, 10, 60],
    sameFor(
      [0.16, 0.16, 0.5],
      "POST /user",
      "PATCH /user",
      "DELETE /user/{id}",
      "DELETE /user/ext-id/{id}",
    ),
  ),
  row("Work Assignment Manager", "v3", [0.16, 0.16, 0.5]),
  row(
    "Content Manager",
    "v4",
    [1, 10, 60],
    sameFor([0.02, 0.08, 0.17], "POST /import/content", "POST /import/content/validate"),
  ),
  row("Event Manager", "v4", [0.5, 0.5, 0.5]),
  row(
    "Portal Manager",
    "v3",
    [1, 10, 60],
    sameFor([10, 20, 60], "GET /portals/{portalID}/search/typeahead"),
  ),
  row("Portal Manager", "v4", [1, 10, 60]),
];

const siblingMethods = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** The words of a name such as `case-manager`, however they are joined. */
const wordsOf = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");

const siblingByPath: ReadonlyMap<string, SiblingService> = new Map(
  siblingServices.flatMap((service) =>
    service.versions.map((version) => [`${wordsOf(service.name)}/${version}`, service] as const),
  ),
);

/** IDs are segments with a digit, or long ones; a plain word is part of the path. */
const isIdentifier = (segment: string): boolean => /\d/.test(segment) || segment.length > 40;

const fits = (template: string, segments: readonly string[]): boolean => {
  const parts = template.split("/").slice(1);
  return (
    parts.length === segments.length &&
    parts.every((part, place) => part === segments[place] || part.startsWith("{"))
  );
};

/** The template of a path: one with its own rates, the more literal first, or a derived one. */
const templateOf = ({ special }: SiblingService, segments: readonly string[]): string => {
  const known = Object.keys(special)
    .map((endpoint) => endpoint.slice(endpoint.indexOf(" ") + 1))
    .filter((template) => fits(template, segments))
    .sort((a, b) => a.split("{").length - b.split("{").length);
  const made = segments.map((segment) => `/${isIdentifier(segment) ? "{id}" : segment}`).join("");
  return known[0] ?? made;
};

const mostSegments = 8;

/**
 * The operations on a path of another service, such as `/case-manager/v3/cases`; undefined if there
 * is no such service. The specification states only paths, methods, and rates, so an allowed call
 * returns 200 and an empty object.
 */
export const matchSibling = (path: string): PathMatch | undefined => {
  const [, name = "", version = "", ...segments] = path.split("/");
  const service = siblingByPath.get(`${wordsOf(name)}/${version}`);
  const isPath = segments.length > 0 && segments.length <= mostSegments && !segments.includes("");
  if (!service || !isPath) return undefined;
  const own = templateOf(service, segments);
  const template = `/${service.name.toLowerCase().replaceAll(" ", "-")}/${version}${own}`;
  const routeOf = (method: string): Route => ({
    method,
    template,
    name: `${method} ${template}`,
    scopes: [],
    rates: service.special[`${method} ${own}`] ?? service.rates,
    carryOut: () => ({ status: 200, body: {} }),
  });
  return {
    template,
    id: "",
    methods: new Map(siblingMethods.map((method) => [method, routeOf(method)])),
  };
};

/**
 * An operation of another service, by its name, such as `GET /case-manager/v3/cases/{id}`;
 * undefined if there is none.
 */
export const siblingRoute = (name: string): Route | undefined => {
  const [method = "", path = ""] = name.split(" ");
  const route = matchSibling(path.replaceAll(/\{\w+\}/g, "0"))?.methods.get(method);
  return route?.name === name ? route : undefined;
};

/** A copy, as a substring keeps the whole text in memory. */
const copied = (text: string): string => Buffer.from(text).toString();

/** An ID is part of a subject up to this length. */
const longestId = 255;
/** A call with many messages is found by the first ones. */
const mostSubjects = 20;

/** The messages of a body, and the conversations that they belong to. */
const subjectsInMessages = (body: unknown): string[] =>
  listAt(body, "messages", "message").flatMap((message) => {
    const conversation = textAt(message, "conversation", "id");
    const id = textAt(message, "messageId");
    return [
      ...(conversation === undefined ? [] : [`conversations/${conversation}`]),
      ...(id === undefined ? [] : [`messages/${id}`]),
    ];
  });

/** What a call is about: the object of its path, the one that it made, its messages. */
const subjectsOf = (
  template: string,
  id: string,
  { status, body }: ServiceResponse,
  sent: KeptBody | undefined,
): readonly string[] => {
  const [, collection = ""] = template.split("/");
  if (template === messagesTemplate)
    // A refused message names its conversation only in what was sent.
    return [...new Set(subjectsInMessages(status < 400 ? body : jsonIn(sent?.text ?? "")))]
      .filter((subject) => subject.length <= longestId)
      .slice(0, mostSubjects);
  const own = id || (status < 400 && textAt(body, "id")) || "";
  return own === "" || own.length > longestId ? [] : [`${collection}/${copied(own)}`];
};

/** A request to the service, or to another one of the tenant. */
interface ApiRequest {
  readonly request: IncomingMessage;
  /** Below the base path of the service. */
  readonly path: string;
  /** The operations of the path; undefined if there are none. */
  readonly match: PathMatch | undefined;
  readonly query: URLSearchParams;
}

/** What is known about a call, for the log and for its answer; filled in as the call proceeds. */
interface CallProgress {
  template: string;
  check: Check;
  sent?: Buffer;
  clientId?: string;
  fault?: FaultRule;
}

/**
 * Checks in the order of the service's refusals: path, token, rate, scope, object, body. A fault
 * comes after the rate, so that a call refused anyway uses up none, and a spoiled one is counted.
 */
const answer = async (
  service: EmulatedService,
  { request, match, query }: ApiRequest,
  response: ServerResponse,
  progress: CallProgress,
): Promise<ServiceResponse> => {
  progress.template = match?.template ?? progress.template;
  const { bytes, json: body } = await readBody(request);
  progress.sent = bytes;
  progress.check = "path";
  const route = routeFor(match, request.method ?? "");
  progress.check = "token";
  const claims = service.tokens.authenticate(request.headers.authorization);
  progress.clientId = claims.clientId;
  progress.check = "rate";
  const refusal = service.rateLimiter.refusal(route.name, route.rates);
  if (refusal) return refusal;
  const fault = service.faults.take(route.name);
  if (fault) progress.fault = fault;
  progress.check = "fault";
  const early = fault && (await beforeOperation(fault, response));
  if (early) return early;
  progress.check = "scope";
  if (route.scopes.length > 0) assertScope(claims, route.scopes);
  progress.check = "operation";
  const call = { request, query, id: match?.id ?? "", body };
  return route.carryOut(service, { ...call, ...(fault ? { fault } : {}) });
};

/** The answer to a failure; none if the caller went away before the call was complete. */
const errorResponse = (
  error: unknown,
  { switches }: EmulatedService,
  { headers, complete }: IncomingMessage,
): ServiceResponse => {
  if (!complete && !(error instanceof HttpError)) return noResponse;
  const asked = headers[`x-${switches.platformName}-error-message`];
  return failureOf(error).response(String(asked).toLowerCase() === "yes");
};

const longestPath = 300;

/**
 * A path as the log keeps it; a short substring keeps at most the rest of a short address in
 * memory.
 */
const loggedPath = (path: string, { url = "" }: IncomingMessage): string =>
  url.length > longestPath ? copied(path.slice(0, longestPath)) : path;

const keptAnswer = ({ body }: ServiceResponse, response: ServerResponse): KeptBody | undefined => {
  if (body === undefined) return undefined;
  // A long answer is not made into text a second time.
  const announced = Number(response.getHeader("content-length") ?? 0);
  if (announced > longestKept) return { size: announced };
  const text = String(serialised(body));
  return keptBody(Buffer.byteLength(text), () => text);
};

const contentOf = (
  { sent, check, fault }: CallProgress,
  answered: ServiceResponse,
  response: ServerResponse,
): CallContent => {
  const bodies = {
    sent: sent && keptBody(sent.length, () => sent.toString()),
    answer: keptAnswer(answered, response),
  };
  return { ...bodies, check, ...(fault ? { fault: fault.kind } : {}) };
};

/** Serves one call to the service and logs it. */
export const serveApi = async (
  service: EmulatedService,
  api: ApiRequest,
  response: ServerResponse,
): Promise<void> => {
  const started = performance.now();
  const progress: CallProgress = { template: "(none)", check: "size" };
  const answered = await answer(service, api, response, progress).catch((error) =>
    errorResponse(error, service, api.request),
  );
  const { template, clientId, fault } = progress;
  const reason = reasonOf(answered);
  if (fault) sendWithFault(response, answered, fault);
  else if (answered !== noResponse) sendResponse(response, answered);
  const content = contentOf(progress, answered, response);
  const entry: ShownCall = {
    at: timestamp(service.clock.now()),
    method: api.request.method ?? "",
    template,
    path: loggedPath(api.path, api.request),
    status: answered.status,
    ms: Math.round(performance.now() - started),
    subjects: subjectsOf(template, api.match?.id ?? "", answered, content.sent),
    ...(clientId === undefined ? {} : { clientId }),
    ...(reason === undefined ? {} : { reason }),
  };
  service.log.add(entry, content);
};
