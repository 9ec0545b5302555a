import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { dateHeader } from "../clock.js";
import { controlRoutes } from "../control/control.js";
import { sendAnswer } from "../deliver.js";
import type { World } from "../objects/world.js";
import { serveContent } from "../runtime/assets/asset-content.js";
import { contentPath } from "../runtime/assets/signed-addresses.js";
import { authorize } from "../token/authorize.js";
import { type Audience, serveToken } from "../token/token-endpoint.js";
import { serveApi } from "./api.js";

/** Where everything is, below the origin. */
export const paths = {
  base: "/conversation/v3",
  token: "/oauth/token",
  authorize: "/oauth/authorize",
  customerToken: "/customer/oauth/token",
  customerAuthorize: "/customer/oauth/authorize",
  control: "/control",
} as const;

const audiences: Readonly<
  Record<string, { readonly audience: Audience; readonly serves: "token" | "authorize" }>
> = {
  [paths.token]: { audience: "user", serves: "token" },
  [paths.customerToken]: { audience: "customer", serves: "token" },
  [paths.authorize]: { audience: "user", serves: "authorize" },
  [paths.customerAuthorize]: { audience: "customer", serves: "authorize" },
};

/** Only this machine may control the emulator, whatever a forwarding header says. */
const isLoopback = ({ socket }: IncomingMessage): boolean =>
  /^(::1$|(::ffff:)?127\.)/.test(socket.remoteAddress ?? "");

const notFound = (response: ServerResponse): void =>
  sendAnswer(response, {
    status: 404,
    body: { code: "404-100", developerMessage: "There is no such path." },
  });

/** Splits by hand what a parser might resolve: `..` and `//` in a path stay what they are. */
const splitUrl = (url: string): { readonly path: string; readonly query: URLSearchParams } => {
  const mark = url.indexOf("?");
  const path = mark < 0 ? url : url.slice(0, mark);
  return { path, query: new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1)) };
};

/** The listener of the emulator's server. */
export const createFront = (world: World) => {
  const control = getRequestListener(controlRoutes(world, paths.control).fetch, {
    overrideGlobalObjects: false,
  });

  const date = dateHeader(world.clock);

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    response.setHeader("date", date());
    const { path, query } = splitUrl(request.url ?? "/");
    if (path.startsWith(`${paths.base}/`)) {
      return serveApi(world, { request, path: path.slice(paths.base.length), query }, response);
    }
    if (path.startsWith(`${contentPath}/`))
      return serveContent(world, request, response, path, query);
    const oauth = Object.hasOwn(audiences, path) ? audiences[path] : undefined;
    if (oauth?.serves === "token") return serveToken(world, request, response, oauth.audience);
    if (oauth) {
      const isGet = request.method === "GET";
      return isGet
        ? sendAnswer(response, authorize(world, query, oauth.audience))
        : notFound(response);
    }
    if (path !== paths.control && !path.startsWith(`${paths.control}/`)) return notFound(response);
    if (isLoopback(request)) return control(request, response);
    return sendAnswer(response, {
      status: 403,
      body: { error: "The control interface answers on this machine only." },
    });
  };

  return (request: IncomingMessage, response: ServerResponse): void => {
    // A caller who goes away in the middle of a call is no failure of the emulator.
    serve(request, response).catch(() => response.destroy());
  };
};
