import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** The address of a server that listens, such as `http://127.0.0.1:40123`. */
export const originOf = (server: Server): string =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/**
 * Lets a server listen on this machine alone, at a port that was free. It ends no connection by itself:
 * on a busy machine that would happen under a call that was just sent.
 *
 * @returns its address
 */
export const listenHere = async (server: Server): Promise<string> => {
  server.keepAliveTimeout = 0;
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return originOf(server);
};

/** Ends a server, and its connections with it. */
export const closeServer = async (server: Server): Promise<void> => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
};
