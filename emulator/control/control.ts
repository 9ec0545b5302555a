import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { isObject } from "../../provider/kernel/json.js";
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
import { routes } from "../hub/routes.js";
import type { EmulatedService } from "../hub/service.js";
import { siblingRoute } from "../hub/sibling-services.js";
import { pageRoutes } from "../page/page-routes.js";
import type { RecentEntries } from "../service/calls.js";
import { furtherEndpoints, parseFault } from "../service/faults.js";
import { parseSwitches, turnSwitches } from "../service/switches.js";
import { isSameSecret, parseClient } from "../tokens/clients.js";
import { putSnapshot, reset, takeSnapshot } from "./snapshot.js";

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

/** Refuses callers: with the secret they may call from anywhere, without one from this machine only. */
const callerRefusal = (
  request: IncomingMessage,
  secret: string | undefined,
): ServiceResponse | undefined => {
  const { host = "", authorization = "" } = request.headers;
  if (secret !== undefined) {
    if (!URL.canParse(`http://${host}`)) return refusal(400, "The Host header is malformed.");
    const [, sent = ""] = /^bearer +(\S+)$/i.exec(authorization.trim()) ?? [];
    if (isSameSecret(sent, secret)) return undefined;
    return refusal(
      401,
      "The control interface requires its secret: send it as Authorization: Bearer <controlSecret>.",
      { "www-authenticate": "Bearer" },
    );
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

/** Where faults can be. */
const endpoints = [...furtherEndpoints, ...routes.map(({ name }) => name)];

/** A snapshot holds what came in bodies, a few steps down. */
const mostControlDepth = mostDepth + 16;

const readStep = (body: unknown): number => {
  const { advanceMs, ...rest } = isObject(body) ? body : {};
  const isStep = typeof advanceMs === "number" && advanceMs >= 0 && advanceMs <= 1e12;
  if (isStep && Object.keys(rest).length === 0) return advanceMs;
  throw new Error(
    "The body must be an object with advanceMs: milliseconds from 0 to 1,000,000,000,000.",
  );
};

/** A growing list; with `since`, only the entries from that place on. What is shown as `[]` is left out. */
const growing = <T>(
  { query }: ControlCall,
  list: RecentEntries<T>,
  shown: (entry: T) => unknown,
) => {
  const since = query.get("since");
  if (since === null) return list.all().flatMap(shown);
  if (!/^\d{1,15}$/.test(since))
    throw new Error('"since" must be a whole number, such as "next" in the previous response.');
  const { entries, ...places } = list.since(Number(since));
  return { ...places, entries: entries.flatMap(shown) };
};

/** With `since`, only the conversations that changed at that time or later. */
const conversationsSince = ({ conversations }: EmulatedService, since: string | null) => {
  if (since === null) return conversations.all();
  const time = Date.parse(since);
  if (Number.isNaN(time)) throw new Error('"since" must be an ISO 8601 time.');
  return conversations.all().filter(({ modified }) => Date.parse(modified) >= time);
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
    service.clock.advance(readStep(body()));
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
      growing(call, service.log.entries, ({ reason: _, subjects: _subjects, ...entry }) =>
        entry.isTokenCall ? [] : entry,
      ),
    ),
  "GET /deliveries": (call) =>
    jsonResponse(
      growing(
        call,
        service.deliveries.log,
        ({ delivery: _, failure: _failure, subjects: _subjects, ...entry }) => entry,
      ),
    ),
  "GET /buckets": () =>
    jsonResponse(routes.flatMap(({ name }) => service.rateLimiter.level(name) ?? [])),
  "GET /conversations": ({ query }) =>
    jsonResponse(conversationsSince(service, query.get("since"))),
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
  const refused = callerRefusal(request, secret) ?? pageRefusal(request) ?? contentRefusal(request);
  if (refused) {
    discard(request);
    return sendResponse(response, refused);
  }
  const { method = "", url = "" } = request;
  const sent = await text(request);
  sendResponse(response, control(method === "HEAD" ? "GET" : method, url, sent));
};
