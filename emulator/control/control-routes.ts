import type { IncomingMessage } from "node:http";
import { type Context, Hono } from "hono";
import type { Definition } from "../../provider/definition/define.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { matchSibling, routes } from "../http/api.js";
import type { RecentEntries } from "../http/call-log.js";
import { isDeeperThan, mostDepth, type ServiceResponse } from "../http/exchange.js";
import type { BucketLevel } from "../http/rate-limit.js";
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

/** Whether the caller is on this machine, whatever a forwarding header says. */
export const isFromThisMachine = ({ socket }: Pick<IncomingMessage, "socket">): boolean =>
  /^(::1$|(::ffff:)?127\.)/.test(socket.remoteAddress ?? "");

/** Names of this machine for itself. Another one may be a page's own name, turned to this address. */
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

/** Who calls: with the secret from anywhere, without one from this machine only. */
const callerRefusal = (
  request: IncomingMessage,
  secret: string | undefined,
): ServiceResponse | undefined => {
  if (secret !== undefined) {
    if (hasSecret(request, secret)) return undefined;
    const error =
      "The control interface asks for its secret: send it as Authorization: Bearer <controlSecret>.";
    return refusal(401, error, { "www-authenticate": "Bearer" });
  }
  if (!isFromThisMachine(request))
    return refusal(
      403,
      "The control interface answers on this machine only, unless the emulator is started with --control-secret.",
    );
  if (isLoopbackName(request.headers.host ?? "")) return undefined;
  return refusal(
    403,
    "The control interface answers to the names of this machine only, such as 127.0.0.1 or localhost (header Host).",
  );
};

/** A browser says which page calls; only the emulator's own pages may. */
const pageRefusal = ({ headers }: IncomingMessage): ServiceResponse | undefined => {
  const { origin, host = "" } = headers;
  const site = headers["sec-fetch-site"] ?? "none";
  const isOwn = origin === undefined || [`http://${host}`, `https://${host}`].includes(origin);
  if (isOwn && (site === "none" || site === "same-origin")) return undefined;
  return refusal(403, "Pages of other origins may not control the emulator (header Origin).");
};

/** What Node's fetch says of a text of its own accord; a browser that says it says its origin, too. */
const saidByFetch = "text/plain;charset=UTF-8";

const contentRefusal = ({ headers }: IncomingMessage): ServiceResponse | undefined => {
  const type = headers["content-type"];
  const isFromBrowser = headers.origin !== undefined || headers["sec-fetch-site"] !== undefined;
  if (type === undefined || (type === saidByFetch && !isFromBrowser)) return undefined;
  if (/^application\/json\s*(;|$)/i.test(type)) return undefined;
  return refusal(415, "The control interface takes JSON only (Content-Type: application/json).");
};

/**
 * The answer to a call that may not control the emulator; undefined if it may.
 *
 * @param secret of the control interface; undefined: none is asked for, and only this machine may
 */
export const controlRefusal = (
  request: IncomingMessage,
  secret: string | undefined,
): ServiceResponse | undefined =>
  callerRefusal(request, secret) ?? pageRefusal(request) ?? contentRefusal(request);

const version = 1;
const members = ["version", "objects", "conversations", "assets", "clients", "switches"];

/** What can be set up and what comes of it; everything but clients and switches. */
interface Content {
  readonly objects: ObjectsByCollection;
  readonly conversations: readonly ConversationDocument[];
  readonly assets: readonly AssetDocument[];
}

/** Everything that is kept, in one JSON document, secrets included. */
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

/** Puts other content in the place of all; deliveries on their way are dropped. */
const replaceContent = (
  { journal, store, conversations, assets, deliveries }: EmulatedService,
  content: Content,
): void => {
  store.replaceAll(content.objects);
  conversations.replaceAll(content.conversations);
  assets.replaceAll(content.assets);
  journal.whenKept(() => deliveries.reset());
};

/** A clean slate; clients and switches stay. */
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
  new Error(`The snapshot cannot be taken: ${what}. Nothing was changed.`);

const assertKnown = (value: JsonObject, known: readonly string[], what: string): void => {
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw wrong(`there is no ${what} ${unknown.slice(0, 60)}; known are ${known.join(", ")}`);
};

const assertDistinct = (values: readonly unknown[], what: string): void => {
  if (new Set(values).size < values.length) throw wrong(`${what} is there twice`);
};

const storedObjects = (definition: Definition, value: unknown, switches: Switches) => {
  const { collection } = definition;
  if (!Array.isArray(value) || !value.every(isStoredObject))
    throw wrong(`${collection} must be a list of objects with id, created and modified`);
  const broken = value.find((object) => !hasShape(definition, object, switches));
  if (broken) throw wrong(`${collection} ${broken.id.slice(0, 60)} breaks the rules of its kind`);
  for (const member of ["id", ...uniqueMembers(definition)])
    assertDistinct(
      value.map((object) => object[member]),
      `a ${member} of ${collection}`,
    );
  return value;
};

const objectsOf = (value: unknown, switches: Switches): ObjectsByCollection => {
  if (!isObject(value)) throw wrong('"objects" is no object');
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
  if (!Array.isArray(value)) throw wrong('"clients" is no list');
  const clients = value.map(parseClient);
  const ids = clients.map(({ clientId }) => clientId);
  assertDistinct(ids, "a clientId");
  return clients;
};

const switchesOf = (value: unknown): Partial<Switches> => {
  if (!isObject(value)) throw wrong('"switches" is no object');
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
 * Puts a snapshot in the place of everything; clients and switches stay if it leaves them out.
 *
 * @throws Error that says what is wrong with it; nothing is changed then
 */
export const putSnapshot = (service: EmulatedService, document: unknown): void => {
  if (!isObject(document) || document.version !== version)
    throw wrong(`it must be a document of version ${version}`);
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
      '"assets" must be a list of assets, each with the content that its size says',
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

/** Whether this is an endpoint of another service, such as `GET /case-manager/v3/cases/{id}`. */
const isSibling = (on: string): boolean => {
  const [method = "", path = ""] = on.split(" ");
  return matchSibling(path.replaceAll(/\{\w+\}/g, "0"))?.methods.get(method)?.name === on;
};

/** A snapshot holds what came in bodies, a few steps down. */
const mostControlDepth = mostDepth + 16;

const bodyOf = async (context: Context): Promise<unknown> => {
  const body = await context.req.json().catch(() => {
    throw new Error("The body must be JSON.");
  });
  if (isDeeperThan(mostControlDepth, body)) throw new Error("The body is nested too deeply.");
  return body;
};

const msOf = (body: unknown): number => {
  if (!isObject(body)) throw new Error("The body must be an object with advanceMs.");
  const { advanceMs, ...rest } = body;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined)
    throw new Error(`There is no ${unknown.slice(0, 60)}; the body holds advanceMs.`);
  if (typeof advanceMs === "number" && advanceMs >= 0 && advanceMs <= 1e12) return advanceMs;
  throw new Error("advanceMs must be a number of milliseconds, at least 0.");
};

const placeIn = (text: string): number => {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Error("since must be a whole number, such as the `next` of the answer before.");
};

/** A list that grows; with `since` only what came from a place on. */
const growing = <T>(
  context: Context,
  list: RecentEntries<T>,
  shown: (entry: T) => unknown = (entry) => entry,
) => {
  const since = context.req.query("since");
  if (since === undefined) return context.json(list.all().map(shown));
  const { entries, ...places } = list.since(placeIn(since));
  return context.json({ ...places, entries: entries.map(shown) });
};

/** With `since` only the conversations that changed at that time or later. */
const conversationsOf = (service: EmulatedService, since: string | undefined) => {
  if (since === undefined) return service.conversations.all();
  const time = Date.parse(since);
  if (Number.isNaN(time)) throw new Error("since must be a time in ISO 8601.");
  return service.conversations.changedSince(time);
};

const bucketsOf = ({ rateLimiter }: EmulatedService): readonly BucketLevel[] =>
  routes.flatMap(({ name }) => rateLimiter.level(name) ?? []);

/** Routes of the control interface, below this path. */
export const controlRoutes = (service: EmulatedService, path: string): Hono => {
  const app = new Hono().basePath(path);
  app.post("/clock", async (context) => {
    if (service.clock.kind === "real") {
      return context.json(
        { error: "The clock is real and cannot be moved. Start the emulator with --clock manual." },
        409,
      );
    }
    service.clock.advance(msOf(await bodyOf(context)));
    return context.json({ now: service.clock.now() });
  });
  app.get("/stats", (context) =>
    context.json({ calls: service.log.counts(), tokensIssued: service.tokens.issued }),
  );
  app.get("/log", (context) =>
    growing(context, service.log.entries, ({ reason: _, ...entry }) => entry),
  );
  app.get("/deliveries", (context) => growing(context, service.deliveries.log));
  app.get("/mailbox", (context) => growing(context, service.deliveries.mailbox.mails));
  app.get("/buckets", (context) => context.json(bucketsOf(service)));
  app.get("/conversations", (context) =>
    context.json(conversationsOf(service, context.req.query("since"))),
  );
  app.get("/faults", (context) => context.json(service.faults.left()));
  app.post("/faults", async (context) => {
    const body = await bodyOf(context);
    const faults = (Array.isArray(body) ? body : [body]).map((rule) =>
      parseFault(rule, endpoints, isSibling),
    );
    service.faults.add(faults);
    return context.json(service.faults.left());
  });
  app.delete("/faults", (context) => {
    service.faults.clear();
    return context.body(null, 204);
  });
  app.post("/reset", (context) => {
    reset(service);
    return context.body(null, 204);
  });
  app.get("/snapshot", (context) => context.json(takeSnapshot(service)));
  app.put("/snapshot", async (context) => {
    putSnapshot(service, await bodyOf(context));
    return context.body(null, 204);
  });
  app.post("/clients", async (context) => {
    const client = parseClient(await bodyOf(context));
    service.clients.put(client);
    return context.json({ clientId: client.clientId, scopes: client.scopes }, 201);
  });
  app.get("/switches", (context) => context.json(service.switches));
  app.put("/switches", async (context) => {
    const body = await bodyOf(context);
    if (!isObject(body)) throw new Error("The body must be an object of switches.");
    turnSwitches(service.journal, service.switches, parseSwitches(body));
    return context.json(service.switches);
  });
  app.route("/page", pageRoutes(service, endpoints));
  app.notFound((context) =>
    context.json(
      { error: `There is no ${context.req.method} ${context.req.path.slice(0, 100)}.` },
      404,
    ),
  );
  app.onError((error, context) => context.json({ error: error.message }, 400));
  return app;
};
