import type { IncomingMessage, ServerResponse } from "node:http";
import {
  controlOf,
  controlPath,
  isFromThisMachine,
  serveControl,
} from "../control/control-routes.js";
import { isPagePath, servePage } from "../page/serve-page.js";
import { serveContent } from "../runtime/asset-operations.js";
import { contentPath } from "../runtime/asset-store.js";
import { dateHeader } from "../service/clock.js";
import type { EmulatedService } from "../service/service.js";
import { type Audience, authorize, serveToken } from "../token/token-addresses.js";
import { matchPath, matchSibling, serveApi } from "./api.js";
import { type ResponseHeaders, responseOf, sendResponse } from "./exchange.js";

/**
 * The methods that a page of another origin may use: with a signed URL, which it may get from
 * its own server, and at the token URL, where a public client exchanges its code from within a
 * page (specification §5.3).
 */
const pageMethods = { content: "GET, HEAD, POST", token: "POST" } as const;

/** How long a browser need not ask again, in seconds. */
const maxAge = "600";

const isRegistered = ({ clients }: EmulatedService, origin: string): boolean =>
  clients
    .all()
    .flatMap(({ redirectUris = [] }) => redirectUris)
    .some((uri) => new URL(uri).origin === origin);

/** The headers by which a browser lets the page that calls read the answer. */
const allowOrigin = (service: EmulatedService, origin: string): ResponseHeaders => {
  switch (service.switches.cors) {
    case "any":
      return { "access-control-allow-origin": "*" };
    case "registered":
      return isRegistered(service, origin)
        ? { "access-control-allow-origin": origin, vary: "Origin" }
        : { vary: "Origin" };
    case "none":
      return {};
  }
};

/** The emulator's paths, relative to the origin. */
export const paths = {
  base: "/conversation/v3",
  token: "/oauth/token",
  /** As a commercial tenant has it: knows one scope only. */
  commercialToken: "/global/emulator/oauth2/v2.0/token",
  authorize: "/oauth/authorize",
  customerToken: "/customer/oauth/token",
  customerAuthorize: "/customer/oauth/authorize",
  control: controlPath,
  health: "/health",
} as const;

const tokenAudiences: ReadonlyMap<string, Audience> = new Map([
  [paths.token, "user"],
  [paths.commercialToken, "user"],
  [paths.customerToken, "customer"],
]);

const authorizeAudiences: ReadonlyMap<string, Audience> = new Map([
  [paths.authorize, "user"],
  [paths.customerAuthorize, "customer"],
]);

/** It answers, so it is ready: for containers and load balancers, under any host name. */
const healthy = { status: 200, body: { status: "ok" } } as const;

const notFound = {
  status: 404,
  body: { code: "404-100", developerMessage: "This path does not exist." },
} as const;

/** Splits by hand what a parser might resolve: `..` and `//` in a path stay what they are. */
const splitUrl = (url: string): { readonly path: string; readonly query: URLSearchParams } => {
  const mark = url.indexOf("?");
  const path = mark < 0 ? url : url.slice(0, mark);
  return { path, query: new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1)) };
};

/** Lets pages read the answer. Returns true if the call was only a preflight request. */
const isPreflight = (
  service: EmulatedService,
  { method, headers }: IncomingMessage,
  response: ServerResponse,
  methods: string,
): boolean => {
  const { origin } = headers;
  const allowed = origin === undefined ? {} : allowOrigin(service, origin);
  for (const [name, value] of Object.entries(allowed)) response.setHeader(name, value);
  const isAsked = method === "OPTIONS" && headers["access-control-request-method"] !== undefined;
  if (!isAsked || service.switches.cors === "none") return false;
  sendResponse(response, {
    status: 204,
    headers: {
      "access-control-allow-methods": methods,
      "access-control-allow-headers": "content-type",
      "access-control-max-age": maxAge,
    },
  });
  return true;
};

/**
 * Creates the request listener for the emulator's server.
 *
 * @param secret that every control call must include; if omitted, only this machine may control
 */
export const createRequestListener = (service: EmulatedService, secret?: string) => {
  const control = controlOf(service);
  const date = dateHeader(service.clock);

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { path, query } = splitUrl(request.url ?? "/");
    response.setHeader("date", date());
    if (path.startsWith(`${paths.base}/`)) {
      const below = path.slice(paths.base.length);
      const call = { request, path: below, match: matchPath(below), query };
      return serveApi(service, call, response);
    }
    if (path.startsWith(`${contentPath}/`)) {
      if (isPreflight(service, request, response, pageMethods.content)) return;
      return serveContent(service, request, response, path, query);
    }
    const tokenAudience = tokenAudiences.get(path);
    if (tokenAudience) {
      if (isPreflight(service, request, response, pageMethods.token)) return;
      const onlyScope =
        path === paths.commercialToken
          ? `https://${request.headers.host}/auth/.default`
          : undefined;
      return serveToken(service, request, response, { path, audience: tokenAudience, onlyScope });
    }
    if (path === paths.health) return sendResponse(response, healthy);
    const match = matchSibling(path);
    if (match) return serveApi(service, { request, path, match, query }, response);
    const audience = authorizeAudiences.get(path);
    if (audience && request.method === "GET")
      return sendResponse(
        response,
        responseOf(() => authorize(service, query, audience)),
      );
    if (isPagePath(path)) return servePage(request, response, path, isFromThisMachine(request));
    if (path === paths.control || path.startsWith(`${paths.control}/`))
      return serveControl(control, secret, request, response);
    sendResponse(response, notFound);
  };

  return (request: IncomingMessage, response: ServerResponse): void => {
    // A caller who goes away in the middle of a call is no failure of the emulator.
    serve(request, response).catch(() => response.destroy());
  };
};
