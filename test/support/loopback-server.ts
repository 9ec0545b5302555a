import type { Server as HttpServer } from "node:http";
import type { AddressInfo, Server } from "node:net";

export const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** The address of a server that listens, such as `http://127.0.0.1:40123`. */
export const originOf = (server: Server): string => `http://127.0.0.1:${portOf(server)}`;

/**
 * Lets a server listen on this machine alone, at a port that was free. It ends no connection by itself:
 * on a busy machine that would happen under a call that was just sent.
 *
 * @returns its address
 */
export const listenHere = async (server: Server | HttpServer): Promise<string> => {
  if ("keepAliveTimeout" in server) server.keepAliveTimeout = 0;
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return originOf(server);
};

/** Ends a server, and its connections with it where it speaks HTTP. */
export const closeServer = async (server: Server | HttpServer): Promise<void> => {
  if ("closeAllConnections" in server) server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
};
