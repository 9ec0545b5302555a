import type { IncomingMessage, ServerResponse } from "node:http";
import { controlOf, controlPath, isFromThisMachine, serveControl } from "./control/control.js";
import { contentPath, serveContent } from "./conversations/assets.js";
import { responseOf, sendResponse } from "./http/exchange.js";
import { matchPath } from "./hub/routes.js";
import type { EmulatedService } from "./hub/service.js";
import { matchSibling } from "./hub/sibling-services.js";
import { isPagePath, servePage } from "./page/serve-page.js";
import { serveCall } from "./service/calls.js";
import { type Audience, authorize, serveToken } from "./tokens/token-urls.js";

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

/**
 * Lets a page of another origin read the answer: of a signed URL, which it may get from its own
 * server, and of the token URL, where a public client exchanges its code from within a page
 * (specification §5.3). Returns true if the call was only a preflight request.
 */
const isPreflight = (
  { method, headers }: IncomingMessage,
  response: ServerResponse,
  methods: string,
): boolean => {
  if (headers.origin === undefined) return false;
  response.setHeader("access-control-allow-origin", "*");
  if (method !== "OPTIONS" || !headers["access-control-request-method"]) return false;
  sendResponse(response, {
    status: 204,
    headers: {
      "access-control-allow-methods": methods,
      "access-control-allow-headers": "content-type",
      // So long a browser need not ask again, in seconds.
      "access-control-max-age": "600",
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

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // Split by hand: a parser might resolve `..` and `//` in a path.
    const [path = "", ...rest] = (request.url ?? "/").split("?");
    const query = new URLSearchParams(rest.join("?"));
    response.setHeader("date", new Date(service.clock.now()).toUTCString());
    if (path.startsWith(`${paths.base}/`)) {
      const below = path.slice(paths.base.length);
      return serveCall(service, { request, path: below, match: matchPath(below), query }, response);
    }
    if (path.startsWith(`${contentPath}/`)) {
      if (isPreflight(request, response, "GET, HEAD, POST")) return;
      return serveContent(service, request, response, path, query);
    }
    const tokenAudience = tokenAudiences.get(path);
    if (tokenAudience) {
      if (isPreflight(request, response, "POST")) return;
      const commercialScope = `https://${request.headers.host}/auth/.default`;
      const onlyScope = path === paths.commercialToken ? commercialScope : undefined;
      return serveToken(service, request, response, { path, audience: tokenAudience, onlyScope });
    }
    if (path === paths.health) return sendResponse(response, healthy);
    const match = matchSibling(path);
    if (match) return serveCall(service, { request, path, match, query }, response);
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
