import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { Side } from "./side.mts";

/** A place on this machine to listen at. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

export interface CallbackServer {
  /** Ends it, and all its connections. */
  close(): void;
}

const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * Where to listen for callbacks.
 *
 * @param url where the service sends them
 * @param port the port to listen on instead, for example behind a tunnel
 */
export const placeFor = (url: string, port: number | undefined): Place => {
  if (port !== undefined) return { host: "127.0.0.1", port };
  const { hostname, port: own, protocol } = new URL(url);
  if (protocol === "http:" && loopback.test(hostname))
    return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(own || 80) };
  throw new Error(
    `The callbacks of the account are at ${url}, which is not this machine. Forward that address to this machine, and set the port to listen on with --port.`,
  );
};

const toItsSide =
  (sides: readonly Side[]): RequestListener =>
  (request, response) => {
    const side = sides.find(({ name }) => request.url?.endsWith(`/${name}`));
    if (!side) return void response.writeHead(404).end();
    response.on("finish", () => side.answered(response.statusCode));
    return void side.handler.node(request, response);
  };

/** Receives the calls of the service for all sides. */
export const startCallbackServer = async (
  sides: readonly Side[],
  { host, port }: Place,
): Promise<CallbackServer> => {
  // A tunnel or proxy keeps its connections longer than the 5 s of Node.js.
  const server = createServer({ keepAliveTimeout: 75_000 }, toItsSide(sides));
  try {
    await once(server.listen(port, host), "listening");
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot listen for callbacks: ${said}.`);
  }
  return {
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
