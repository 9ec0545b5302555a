import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { isObject, mostLevels, parseJson } from "../../provider/kernel/json.js";
import {
  type ControlRoutes,
  discard,
  jsonResponse,
  type ServiceResponse,
  sendResponse,
} from "../http/exchange.js";
import { routes } from "../hub/routes.js";
import type { EmulatedService } from "../hub/service.js";
import { pageRoutes } from "../page/page-routes.js";
import { furtherEndpoints, parseFault } from "../service/faults.js";
import { parseSwitches } from "../service/switches.js";
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

/** Where faults can be. */
const endpoints = [...furtherEndpoints, ...routes.map(({ name }) => name)];

const readStep = (body: unknown): number => {
  const { advanceMs, ...rest } = isObject(body) ? body : {};
  if (typeof advanceMs === "number" && Object.keys(rest).length === 0) return advanceMs;
  throw new Error("The body must be an object with advanceMs, a number.");
};

const done: ServiceResponse = { status: 204 };

/** What the control interface does, by method and path. */
const controlRoutes = (service: EmulatedService): ControlRoutes => ({
  "POST /clock": ({ body }) => {
    service.clock.advance(readStep(body()));
    return jsonResponse({ now: service.clock.now() });
  },
  "GET /stats": () =>
    jsonResponse({
      calls: service.log.counts(),
      tokensIssued: service.tokens.issued,
    }),
  "GET /log": () => jsonResponse(service.log.entries.all().map(({ reason: _, ...entry }) => entry)),
  "GET /deliveries": () =>
    jsonResponse(
      service.deliveries.log
        .all()
        .map(({ delivery: _, conversationId: _id, failure: _failure, ...entry }) => entry),
    ),
  "GET /conversations": () => jsonResponse(service.conversations.all()),
  "GET /faults": () => jsonResponse(service.faults.left()),
  "POST /faults": ({ body }) => {
    const rules = [body()].flat().map((rule) => parseFault(rule, endpoints));
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
    Object.assign(service.switches, parseSwitches(values));
    return jsonResponse(service.switches);
  },
  ...pageRoutes(service),
});

const bodyIn = (sent: string): unknown => {
  try {
    return parseJson(sent);
  } catch {
    throw new Error(`The body must be JSON of at most ${mostLevels} levels.`);
  }
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
    const name = `${method} ${pathname.slice(controlPath.length)}`;
    const carryOut = Object.hasOwn(table, name) ? table[name] : undefined;
    if (!carryOut) return refusal(404, `There is no ${method} ${pathname.slice(0, 100)}.`);
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
  const refused = callerRefusal(request, secret) ?? pageRefusal(request);
  if (refused) {
    discard(request);
    return sendResponse(response, refused);
  }
  const { method = "", url = "" } = request;
  sendResponse(response, control(method, url, await text(request)));
};
