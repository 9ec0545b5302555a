import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { Definition } from "../../provider/definition/define.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { routes, siblingRoute } from "../http/api.js";
import { type RecentEntries, withoutSubjects } from "../http/call-log.js";
import {
  type ControlCall,
  type ControlRoutes,
  discard,
  isDeeperThan,
  jsonResponse,
  mostDepth,
  type ServiceResponse,
  sendResponse,
} from "../http/exchange.js";
import { isStoredObject, type ObjectsByCollection, uniqueMembers } from "../objects/store.js";
import { hasShape } from "../objects/validate.js";
import { pageRoutes } from "../page/page-routes.js";
import { type AssetDocument, isAssetDocument } from "../runtime/asset-store.js";
import {
  type ConversationDocument,
  isConversationDocument,
} from "../runtime/conversation-store.js";
import { furtherEndpoints, parseFault } from "../service/faults.js";
import type { EmulatedService } from "../service/service.js";
import { parseSwitches, type Switches, turnSwitches } from "../service/switches.js";
import { type Client, isSameSecret, parseClient } from "../token/tokens.js";

/** Whether the caller runs on this machine, regardless of forwarding headers. */
export const isFromThisMachine = ({ socket }: Pick<IncomingMessage, "socket">): boolean =>
  /^(::1$|(::ffff:)?127\.)/.test(socket.remoteAddress ?? "");

/**
 * Names of this machine for itself. Any other name may belong to a page and have been rebound to
 * this address.
 */
const isLoopbackName = (host: string): boolean =>
  /^(([\w-]+\.)*localhost|127(\.\d{1,3}){3}|\[::1\]|\[::ffff:127(\.\d{1,3}){3}\])\.?(:\d{1,5})?$/i.test(
    host,
  );

const refusal = (status: number, error: string, headers = {}): ServiceResponse => ({
  status,
  body: { error },
  headers,
});

const hasSecret = ({ headers }: IncomingMessage, secret: string): boolean => {
  const [, given = ""] = /^bearer +(\S+)$/i.exec((headers.authorization ?? "").trim()) ?? [];
  return isSameSecret(given, secret);
};

/**
 * Refuses callers: with the secret they may call from anywhere, without one from this machine only.
 */
const callerRefusal = (
  request: IncomingMessage,
  secret: string | undefined,
): ServiceResponse | undefined => {
  const { host = "" } = request.headers;
  if (secret !== undefined) {
    if (!URL.canParse(`http://${host}`)) return refusal(400, "The Host header is malformed.");
    if (hasSecret(request, secret)) return undefined;
    const error =
      "The control interface requires its secret: send it as Authorization: Bearer <controlSecret>.";
    return refusal(401, error, { "www-authenticate": "Bearer" });
  }
  if (!isFromThisMachine(request))
    return refusal(
      403,
      "The control interface accepts calls only from this machine, unless you start the emulator with --control-secret.",
    );
  if (isLoopbackName(host)) return undefined;
  return refusal(
    403,
    "The control interface accepts only names for this machine in the Host header, such as 127.0.0.1 or localhost.",
  );
};

/** A browser says which page calls; only the emulator's own pages may. */
const pageRefusal = ({ headers }: IncomingMessage): ServiceResponse | undefined => {
  const { origin, host = "" } = headers;
  const site = headers["sec-fetch-site"] ?? "none";
  const isOwn = origin === undefined || [`http://${host}`, `https://${host}`].includes(origin);
  if (isOwn && (site === "none" || site === "same-origin")) return undefined;
  return refusal(403, "Pages from other origins must not control the emulator.");
};

/**
 * The content type that Node's fetch sets for a text by default; a browser that sends it also sends
 * its origin.
 */
const saidByFetch = "text/plain;charset=UTF-8";

const contentRefusal = ({ headers }: IncomingMessage): ServiceResponse | undefined => {
  const type = headers["content-type"];
  const isFromBrowser = headers.origin !== undefined || headers["sec-fetch-site"] !== undefined;
  if (type === undefined || (type === saidByFetch && !isFromBrowser)) return undefined;
  if (/^application\/json\s*(;|$)/i.test(type)) return undefined;
  return refusal(415, "The control interface accepts only JSON (Content-Type: application/json).");
};

/** The answer to a call that may not control the emulator; undefined if it may. */
const controlRefusal = (
  request: IncomingMessage,
  secret: string | undefined,
): ServiceResponse | undefined =>
  callerRefusal(request, secret) ?? pageRefusal(request) ?? contentRefusal(request);

const version = 1;
const members = ["version", "objects", "conversations", "assets", "clients", "switches"];

/** The setup and what results from it: everything except clients and switches. */
interface Content {
  readonly objects: ObjectsByCollection;
  readonly conversations: readonly ConversationDocument[];
  readonly assets: readonly AssetDocument[];
}

/** Everything that the emulator stores, in one JSON document, with secrets in plain text. */
export const takeSnapshot = (service: EmulatedService): JsonObject => ({
  version,
  objects: Object.fromEntries(
    resources.map(({ collection }) => [collection, service.store.all(collection)]),
  ),
  conversations: service.conversations.all(),
  assets: service.assets.all(),
  clients: service.clients.all(),
  switches: service.switches,
});

/** Replaces all content; pending deliveries are dropped. */
const replaceContent = (
  { journal, store, conversations, assets, deliveries }: EmulatedService,
  content: Content,
): void => {
  store.replaceAll(content.objects);
  conversations.replaceAll(content.conversations);
  assets.replaceAll(content.assets);
  journal.whenKept(() => deliveries.reset());
};

/** Removes everything except clients and switches, and fills the token buckets. */
export const reset = (service: EmulatedService): void => {
  service.journal.together(() =>
    replaceContent(service, { objects: {}, conversations: [], assets: [] }),
  );
  service.faults.clear();
  service.rateLimiter.reset();
  service.log.reset();
  service.tokens.issued = 0;
};

const wrong = (what: string): Error =>
  new Error(`Could not load the snapshot: ${what}. Nothing was changed.`);

const assertKnown = (value: JsonObject, known: readonly string[], what: string): void => {
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw wrong(`${what} ${unknown.slice(0, 60)} does not exist; use one of ${known.join(", ")}`);
};

const assertDistinct = (values: readonly unknown[], what: string): void => {
  if (new Set(values).size < values.length) throw wrong(`${what} appears twice`);
};

const storedObjects = (definition: Definition, value: unknown, switches: Switches) => {
  const { collection } = definition;
  if (!Array.isArray(value) || !value.every(isStoredObject))
    throw wrong(`${collection} must be a list of objects with "id", "created", and "modified"`);
  const broken = value.find((object) => !hasShape(definition, object, switches));
  if (broken)
    throw wrong(
      `object ${broken.id.slice(0, 60)} in ${collection} violates the rules for its kind`,
    );
  for (const member of ["id", ...uniqueMembers(definition)])
    assertDistinct(
      value.map((object) => object[member]),
      `a ${member} of ${collection}`,
    );
  return value;
};

const objectsOf = (value: unknown, switches: Switches): ObjectsByCollection => {
  if (!isObject(value)) throw wrong('"objects" must be an object');
  const names = resources.map(({ collection }) => collection);
  assertKnown(value, names, "collection");
  return Object.fromEntries(
    resources.map((definition) => {
      const { [definition.collection]: objects = [] } = value;
      return [definition.collection, storedObjects(definition, objects, switches)];
    }),
  );
};

const clientsOf = (value: unknown): readonly Client[] => {
  if (!Array.isArray(value)) throw wrong('"clients" must be a list');
  const clients = value.map(parseClient);
  const ids = clients.map(({ clientId }) => clientId);
  assertDistinct(ids, "a clientId");
  return clients;
};

const switchesOf = (value: unknown): Partial<Switches> => {
  if (!isObject(value)) throw wrong('"switches" must be an object');
  return parseSwitches(value);
};

/** A snapshot from before conversations and assets were kept has none. */
const documentsOf = <T extends { readonly id: string }>(
  value: unknown = [],
  isDocument: (each: unknown) => each is T,
  rule: string,
): readonly T[] => {
  if (!Array.isArray(value) || !value.every(isDocument)) throw wrong(rule);
  const ids = value.map(({ id }) => id);
  assertDistinct(ids, "an id");
  return value;
};

/**
 * Replaces all stored data with a snapshot. Clients and switches remain if the snapshot omits them.
 *
 * @throws Error that describes what is wrong with the snapshot; nothing is changed
 */
export const putSnapshot = (service: EmulatedService, document: unknown): void => {
  if (!isObject(document) || document.version !== version)
    throw wrong(`it must be a version ${version} document`);
  assertKnown(document, members, "member");
  const { journal, switches } = service;
  const turned = document.switches === undefined ? {} : switchesOf(document.switches);
  const content = {
    objects: objectsOf(document.objects, { ...switches, ...turned }),
    conversations: documentsOf(
      document.conversations,
      isConversationDocument,
      '"conversations" must be a list of conversations with their messages',
    ),
    assets: documentsOf(
      document.assets,
      isAssetDocument,
      '"assets" must be a list of assets, each with content of its declared size',
    ),
  };
  const clients = document.clients === undefined ? undefined : clientsOf(document.clients);
  journal.together(() => {
    replaceContent(service, content);
    if (clients) service.clients.replaceAll(clients);
    turnSwitches(journal, switches, turned);
  });
};

/** Where faults can be. */
const endpoints = [...furtherEndpoints, ...routes.map(({ name }) => name)];

/** A snapshot holds what came in bodies, a few steps down. */
const mostControlDepth = mostDepth + 16;

const msOf = (body: unknown): number => {
  if (!isObject(body)) throw new Error("The body must be an object with advanceMs.");
  const { advanceMs, ...rest } = body;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined)
    throw new Error(`There is no member ${unknown.slice(0, 60)}; use advanceMs.`);
  if (typeof advanceMs === "number" && advanceMs >= 0 && advanceMs <= 1e12) return advanceMs;
  throw new Error("advanceMs must be a number of milliseconds from 0 to 1,000,000,000,000.");
};

const placeIn = (text: string): number => {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Error('"since" must be a whole number, such as "next" in the previous response.');
};

/** A growing list; with `since`, only the entries from that place on. What is shown as `[]` is left out. */
const growing = <T>(
  { query }: ControlCall,
  list: RecentEntries<T>,
  shown: (entry: T) => unknown,
) => {
  const since = query.get("since");
  if (since === null) return list.all().flatMap(shown);
  const { entries, ...places } = list.since(placeIn(since));
  return { ...places, entries: entries.flatMap(shown) };
};

/** With `since`, only the conversations that changed at that time or later. */
const conversationsOf = ({ conversations }: EmulatedService, since: string | null) => {
  if (since === null) return conversations.all();
  const time = Date.parse(since);
  if (Number.isNaN(time)) throw new Error('"since" must be an ISO 8601 time.');
  return conversations.changedSince(time);
};

const done: ServiceResponse = { status: 204 };

/** What the control interface does, by method and path. */
const controlRoutes = (service: EmulatedService): ControlRoutes => ({
  "POST /clock": ({ body }) => {
    if (service.clock.kind === "real")
      return refusal(
        409,
        "The emulator uses the real clock, which cannot be moved. Start the emulator with --clock manual.",
      );
    service.clock.advance(msOf(body()));
    return jsonResponse({ now: service.clock.now() });
  },
  "GET /stats": () =>
    jsonResponse({
      calls: service.log.counts(),
      monthly: service.log.monthly,
      tokensIssued: service.tokens.issued,
    }),
  "GET /log": (call) =>
    jsonResponse(
      growing(call, service.log.entries, ({ reason: _, isTokenCall, ...entry }) =>
        isTokenCall ? [] : withoutSubjects(entry),
      ),
    ),
  "GET /deliveries": (call) =>
    jsonResponse(
      growing(call, service.deliveries.log, ({ delivery: _, failure: _failure, ...entry }) =>
        withoutSubjects(entry),
      ),
    ),
  "GET /buckets": () =>
    jsonResponse(routes.flatMap(({ name }) => service.rateLimiter.level(name) ?? [])),
  "GET /conversations": ({ query }) => jsonResponse(conversationsOf(service, query.get("since"))),
  "GET /faults": () => jsonResponse(service.faults.left()),
  "POST /faults": ({ body }) => {
    const rules = [body()]
      .flat()
      .map((rule) => parseFault(rule, endpoints, (on) => siblingRoute(on) !== undefined));
    service.faults.add(rules);
    return jsonResponse(service.faults.left());
  },
  "DELETE /faults": () => {
    service.faults.clear();
    return done;
  },
  "POST /reset": () => {
    reset(service);
    return done;
  },
  "GET /snapshot": () => jsonResponse(takeSnapshot(service)),
  "PUT /snapshot": ({ body }) => {
    putSnapshot(service, body());
    return done;
  },
  "POST /clients": ({ body }) => {
    const client = parseClient(body());
    service.clients.put(client);
    return { status: 201, body: { clientId: client.clientId, scopes: client.scopes } };
  },
  "GET /switches": () => jsonResponse(service.switches),
  "PUT /switches": ({ body }) => {
    const values = body();
    if (!isObject(values))
      throw new Error("The body must be an object that maps switches to values.");
    turnSwitches(service.journal, service.switches, parseSwitches(values));
    return jsonResponse(service.switches);
  },
  ...pageRoutes(service),
});

/** A path without needless percent-encoding such as `%41`. */
const decoded = (path: string): string => {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
};

const bodyIn = (sent: string): unknown => {
  let value: unknown;
  try {
    value = JSON.parse(sent);
  } catch {
    throw new Error("The body must be JSON.");
  }
  if (isDeeperThan(mostControlDepth, value)) throw new Error("The body is nested too deeply.");
  return value;
};

/** Path of the control interface, relative to the origin. */
export const controlPath = "/control";

/** Performs a control call. @param path path and query, relative to the origin @param sent body */
export type Control = (method: string, path: string, sent: string) => ServiceResponse;

/** An emulator's control interface, for callers that are allowed to use it. */
export const controlOf = (service: EmulatedService): Control => {
  const table = controlRoutes(service);
  return (method, path, sent) => {
    const { pathname, searchParams: query } = new URL(path, "http://emulator");
    const name = `${method} ${decoded(pathname).slice(controlPath.length)}`;
    const carryOut = Object.hasOwn(table, name) ? table[name] : undefined;
    if (!carryOut) return refusal(404, `There is no ${method} ${decoded(pathname).slice(0, 100)}.`);
    try {
      return carryOut({ query, body: () => bodyIn(sent) });
    } catch (error) {
      return refusal(400, error instanceof Error ? error.message : String(error));
    }
  };
};

/**
 * Serves a control call from another process, or refuses it.
 *
 * @param secret the control interface's secret; if undefined, only this machine may call, without
 * a secret
 */
export const serveControl = async (
  control: Control,
  secret: string | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const refused = controlRefusal(request, secret);
  if (refused) {
    discard(request);
    return sendResponse(response, refused);
  }
  const { method = "", url = "" } = request;
  const sent = await text(request);
  sendResponse(response, control(method === "HEAD" ? "GET" : method, url, sent));
};
