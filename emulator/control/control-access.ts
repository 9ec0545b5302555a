import { hash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { ServiceResponse } from "../http/response.js";

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

const digest = (text: string): Buffer => hash("sha256", text, "buffer");

/** Compared in a time that tells nothing. */
const hasSecret = ({ headers }: IncomingMessage, secret: string): boolean => {
  const [, given = ""] = /^bearer +(\S+)$/i.exec((headers.authorization ?? "").trim()) ?? [];
  return timingSafeEqual(digest(given), digest(secret));
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
 * The answer to a call that may not control the emulator; undefined where it may.
 *
 * @param secret of the control interface; undefined: none is asked for, and only this machine may
 */
export const controlRefusal = (
  request: IncomingMessage,
  secret: string | undefined,
): ServiceResponse | undefined =>
  callerRefusal(request, secret) ?? pageRefusal(request) ?? contentRefusal(request);
