import type { IncomingMessage, ServerResponse } from "node:http";
import { controlOf, controlPath, isFromThisMachine, serveControl } from "./control/control.js";
import { contentPath, serveContent } from "./conversations/assets.js";
import { HttpError, responseOf, sendResponse } from "./http/exchange.js";
import { matchPath } from "./hub/routes.js";
import type { EmulatedService } from "./hub/service.js";
import { isPagePath, servePage } from "./page/serve-page.js";
import { serveCall } from "./service/calls.js";
import { authorize, serveToken } from "./tokens/token-urls.js";

/** The emulator's paths, relative to the origin. */
export const paths = {
  base: "/conversation/v3",
  token: "/oauth/token",
  authorize: "/oauth/authorize",
  control: controlPath,
  health: "/health",
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
    if (path === paths.token) {
      if (isPreflight(request, response, "POST")) return;
      return serveToken(service, request, response, path);
    }
    // It answers, so it is ready: for containers and load balancers, under any host name.
    if (path === paths.health)
      return sendResponse(response, { status: 200, body: { status: "ok" } });
    if (path === paths.authorize && request.method === "GET")
      return sendResponse(
        response,
        responseOf(() => authorize(service, query)),
      );
    if (isPagePath(path)) return servePage(request, response, path, isFromThisMachine(request));
    if (path === paths.control || path.startsWith(`${paths.control}/`))
      return serveControl(control, secret, request, response);
    sendResponse(response, new HttpError(404, "404-100", "This path does not exist.").response());
  };

  return (request: IncomingMessage, response: ServerResponse): void => {
    // A caller who goes away in the middle of a call is no failure of the emulator.
    serve(request, response).catch(() => response.destroy());
  };
};
