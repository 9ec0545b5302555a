import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import type { Hono } from "hono";
import { dateHeader } from "../clock.js";
import { controlRefusal, isFromThisMachine } from "../control/control-access.js";
import { openApiDocument } from "../openapi/openapi-document.js";
import { isPagePath, servePage } from "../page/serve-page.js";
import { serveContent } from "../runtime/assets/asset-content.js";
import { contentPath, originFor } from "../runtime/assets/signed-urls.js";
import type { EmulatedService } from "../service.js";
import { authorize } from "../token/authorize.js";
import type { Audience } from "../token/oauth-request.js";
import { serveToken } from "../token/token-endpoint.js";
import { serveApi } from "./api.js";
import { contentAccess, corsHeaders, type PageAccess, preflight, tokenAccess } from "./cors.js";
import { discard } from "./request-body.js";
import { responseOf, type ServiceResponse, sendResponse } from "./response.js";
import { matchPath } from "./routes.js";
import { matchSibling } from "./sibling-services.js";

/** Where everything is, below the origin. */
export const paths = {
  base: "/conversation/v3",
  token: "/oauth/token",
  authorize: "/oauth/authorize",
  customerToken: "/customer/oauth/token",
  customerAuthorize: "/customer/oauth/authorize",
  control: "/control",
  health: "/health",
  openApi: "/openapi.json",
} as const;

const tokenAudiences: ReadonlyMap<string, Audience> = new Map([
  [paths.token, "user"],
  [paths.customerToken, "customer"],
]);

const authorizeAudiences: ReadonlyMap<string, Audience> = new Map([
  [paths.authorize, "user"],
  [paths.customerAuthorize, "customer"],
]);

/** It answers, so it is ready: for containers and load balancers, whatever name they call it by. */
const healthy = { status: 200, body: { status: "ok" } } as const;

const notFound = {
  status: 404,
  body: { code: "404-100", developerMessage: "There is no such path." },
} as const;

/** Splits by hand what a parser might resolve: `..` and `//` in a path stay what they are. */
const splitUrl = (url: string): { readonly path: string; readonly query: URLSearchParams } => {
  const mark = url.indexOf("?");
  const path = mark < 0 ? url : url.slice(0, mark);
  return { path, query: new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1)) };
};

/** Lets pages read the answer. Gives true where that was all that the browser asked for. */
const isPreflight = (
  service: EmulatedService,
  request: IncomingMessage,
  response: ServerResponse,
  access: PageAccess,
): boolean => {
  for (const [name, value] of Object.entries(corsHeaders(service, request)))
    response.setHeader(name, value);
  const asked = preflight(service, request, access);
  if (asked) sendResponse(response, asked);
  return asked !== undefined;
};

const describeApi = ({ switches }: EmulatedService, request: IncomingMessage): ServiceResponse => {
  const origin = originFor(request);
  const addresses = { baseUrl: origin + paths.base, tokenUrl: origin + paths.token };
  return { status: 200, body: openApiDocument(addresses, switches) };
};

/** The part of the emulator that is controlled by. */
interface Control {
  readonly routes: Hono;
  /** What every call of it must carry; undefined: none is asked for, and only this machine may call. */
  readonly secret: string | undefined;
}

/** The listener of the emulator's server. */
export const createRequestListener = (service: EmulatedService, control: Control) => {
  const serveControl = getRequestListener(control.routes.fetch, { overrideGlobalObjects: false });
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
      if (isPreflight(service, request, response, contentAccess)) return;
      return serveContent(service, request, response, path, query);
    }
    const tokenAudience = tokenAudiences.get(path);
    if (tokenAudience) {
      if (isPreflight(service, request, response, tokenAccess)) return;
      return serveToken(service, request, response, tokenAudience);
    }
    if (path === paths.health) return sendResponse(response, healthy);
    if (path === paths.openApi) return sendResponse(response, describeApi(service, request));
    const match = matchSibling(path);
    if (match) return serveApi(service, { request, path, match, query }, response);
    const audience = authorizeAudiences.get(path);
    if (audience && request.method === "GET")
      return sendResponse(
        response,
        responseOf(() => authorize(service, query, audience)),
      );
    if (isPagePath(path)) return servePage(request, response, path, isFromThisMachine(request));
    if (path !== paths.control && !path.startsWith(`${paths.control}/`))
      return sendResponse(response, notFound);
    const refusal = controlRefusal(request, control.secret);
    if (!refusal) return serveControl(request, response);
    discard(request);
    sendResponse(response, refusal);
  };

  return (request: IncomingMessage, response: ServerResponse): void => {
    // A caller who goes away in the middle of a call is no failure of the emulator.
    serve(request, response).catch(() => response.destroy());
  };
};
