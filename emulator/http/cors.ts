import type { IncomingMessage } from "node:http";
import type { EmulatedService } from "../service.js";
import type { ResponseHeaders, ServiceResponse } from "./response.js";

/** What a page of another origin may ask of an address. */
export interface PageAccess {
  readonly methods: string;
  readonly headers: string;
}

/** A public client exchanges its code from within a page (specification §5.3). */
export const tokenAccess: PageAccess = { methods: "POST", headers: "content-type" };

/** A page may be given a signed address by its own server. */
export const contentAccess: PageAccess = { methods: "GET, HEAD, POST", headers: "content-type" };

/** How long a browser need not ask again, in seconds. */
const maxAge = "600";

const isRegistered = ({ clients }: EmulatedService, origin: string): boolean =>
  clients
    .all()
    .flatMap(({ redirectUris = [] }) => redirectUris)
    .some((uri) => new URL(uri).origin === origin);

/** The headers by which a browser lets the page that calls read the answer; none for other callers. */
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

/** Headers for the answer to a page of another origin; none where no browser calls. */
export const corsHeaders = (
  service: EmulatedService,
  { headers: { origin } }: IncomingMessage,
): ResponseHeaders => (origin === undefined ? {} : allowOrigin(service, origin));

/** The answer to a browser that asks before it calls; undefined: it is a call of its own. */
export const preflight = (
  { switches }: EmulatedService,
  { method, headers }: IncomingMessage,
  access: PageAccess,
): ServiceResponse | undefined => {
  const isAsked = method === "OPTIONS" && headers["access-control-request-method"] !== undefined;
  if (!isAsked || switches.cors === "none") return undefined;
  return {
    status: 204,
    headers: {
      "access-control-allow-methods": access.methods,
      "access-control-allow-headers": access.headers,
      "access-control-max-age": maxAge,
    },
  };
};
