import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { Method } from "../../provider/service/http/operations.js";
import type {
  HttpRequest,
  HttpResponse,
  Transport,
} from "../../provider/service/http/transport.js";
import { closeServer, listenHere, originOf } from "./loopback-server.js";

/** Stands in front of a service and hands every call to a transport, faults and all. */
export interface ReplayProxy {
  readonly origin: string;
  /** From now on calls go through this one. */
  lead(transport: Transport): void;
  close(): Promise<void>;
}

/** What concerns one connection only. */
const hopByHop = new Set([
  "host",
  "connection",
  "keep-alive",
  "transfer-encoding",
  "content-length",
]);

const passedOn = <T>(headers: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.has(name)));

const requestOf = async (incoming: IncomingMessage, target: string): Promise<HttpRequest> => {
  const body = await text(incoming);
  const headers = Object.entries(passedOn(incoming.headers)).map(
    ([name, value]) => [name, String(value)] as const,
  );
  return {
    method: incoming.method as Method,
    url: target + incoming.url,
    headers: Object.fromEntries(headers),
    ...(body === "" ? {} : { body }),
  };
};

/** A broken answer ends before the length that its head tells. Where it has no body, it is whole. */
const reply = (outgoing: ServerResponse, { status, headers, text: body, broken }: HttpResponse) => {
  const lengthBytes = Buffer.byteLength(body) + (broken && body !== "" ? 1 : 0);
  const length = lengthBytes > 0 ? { "content-length": lengthBytes } : {};
  outgoing.writeHead(status, { ...passedOn(headers), ...length });
  if (broken && body !== "") outgoing.write(body, () => outgoing.destroy());
  else outgoing.end(body);
};

/** @param target origin of the service */
export const startReplayProxy = async (target: string): Promise<ReplayProxy> => {
  let leadsTo: Transport | undefined;
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const request = await requestOf(incoming, target);
    if (!leadsTo) throw new Error(`${request.method} ${request.url} comes between two steps`);
    reply(outgoing, await leadsTo.send(request));
  };
  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  await listenHere(server);
  return {
    origin: originOf(server),
    lead: (transport) => {
      leadsTo = transport;
    },
    close: async () => {
      await closeServer(server);
    },
  };
};
