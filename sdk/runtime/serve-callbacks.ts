import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";
import { ConversationError } from "../../provider/kernel/errors.js";
import { listenFailure } from "../../provider/kernel/listen-failure.js";
import type { Callbacks } from "./callbacks.js";
import { checkInput, checkOptions, timeLimit } from "./input-schemas.js";

/** Where to serve callbacks. */
export interface ServeOptions {
  /** Port: 1 to 65,535; 0 chooses a free one. */
  readonly port: number;
  /** Host name or IP address to listen on. Default: every address of this machine. */
  readonly host?: string;
  /**
   * How long a connection stays open while it is idle, in milliseconds, up to one day. Make it
   * longer than the time for which a proxy keeps its connections, or the proxy sends calls into
   * closed ones (502). Default: 75,000, as most proxies keep them for 60 s (nginx:
   * `keepalive_timeout` of an upstream).
   */
  readonly keepAliveMs?: number;
}

/** The server that `serveCallbacks` started. */
export interface ServedCallbacks extends AsyncDisposable {
  /** The port on which it listens. */
  readonly port: number;
  /**
   * Closes the server when every accepted message has been handled. Until then, new calls receive a
   * 503, so that the service redelivers them. Never fails.
   */
  close(): Promise<void>;
}

const doing = "serve callbacks";

const portRule = "must be a whole number from 0 to 65535";

const optionRules = z.strictObject({
  port: z.int(portRule).min(0, portRule).max(65_535, portRule),
  host: z.string("must be a string").min(1, "must not be empty").optional(),
  keepAliveMs: timeLimit.max(86_400_000, "must be at most 86400000").optional(),
});

/**
 * Returns the timeouts of a node:http server whose connections stay open while they are idle.
 * Node.js would close them after 5 s, and those that have not carried a call yet when the time for
 * headers is over (nodejs.org/api/http.html).
 */
export const computeIdleTimeouts = (keepAliveMs = 75_000) => {
  const headersTimeout = Math.max(60_000, keepAliveMs + 1_000);
  return {
    keepAliveTimeout: keepAliveMs,
    headersTimeout,
    requestTimeout: Math.max(300_000, headersTimeout),
  };
};

const handlerRules = z.record(
  // As a request line has it (RFC 3986 §3.3), without the query.
  z.string().regex(/^\/[\w.~!$&'()*+,;=:@%/-]*$/),
  z.custom<Callbacks>((given) => given instanceof Object && "node" in given && "idle" in given),
  "must be an object with a handler for each path, such as /bot",
);

const cannotListen = (options: ServeOptions, error: unknown): ConversationError => {
  const failure = listenFailure(error, options);
  const text = failure?.text ?? `${error}`;
  // What the address explains needs no second stack.
  const more = failure ? undefined : { cause: error };
  return new ConversationError(
    "SETTINGS_INVALID",
    `Could not ${doing}: ${text}.`,
    {},
    "none",
    more,
  );
};

/** A path with and without its trailing slash is one path. */
const findAt = <T>(paths: ReadonlyMap<string, T>, path: string): T | undefined =>
  paths.get(path) ?? paths.get(path.endsWith("/") ? path.slice(0, -1) : `${path}/`);

/**
 * Starts a node:http server that passes each call to the handler for its path, with or without a
 * trailing slash. `/health` responds 200, and every other path 404 with a list of the paths.
 *
 * @param callbacks the handlers by path, such as `/bot`. A handler with several paths handles a
 * message once, whichever of them it arrives at
 * @throws ConversationError `INPUT_INVALID` for an invalid path, handler or option,
 * `SETTINGS_INVALID` if the port is in use or the server cannot listen there for another reason
 *
 * @example
 * const bot = callbacks({ authenticate, onMessage });
 * const server = await serveCallbacks({ "/bot": bot }, { port: 3000 });
 * process.once("SIGTERM", () => server.close());
 */
export const serveCallbacks = async (
  callbacks: Readonly<Record<string, Callbacks>>,
  options: ServeOptions,
): Promise<ServedCallbacks> => {
  const handlers = new Map(Object.entries(checkInput(doing, "callbacks", handlerRules, callbacks)));
  const { port, host, keepAliveMs } = checkOptions(doing, optionRules, options);
  const unknownPath = `No callback has this path. Callbacks: ${[...handlers.keys()].join(", ")}.`;
  const open = new Set<ServerResponse>();
  let settle = (): void => {};
  const forget = (response: ServerResponse): void => {
    open.delete(response);
    if (open.size === 0) settle();
  };
  let closing: Promise<void> | undefined;
  const server = createServer(computeIdleTimeouts(keepAliveMs), (request, response) => {
    open.add(response);
    response.once("close", () => forget(response));
    // A client may send the whole address (RFC 9112 §3.2.2).
    const [path = ""] = (request.url ?? "").replace(/^https?:\/\/[^/?]*/i, "").split("?", 1);
    const handler = findAt(handlers, path);
    if (handler && !closing) return void handler.node(request, response);
    request.resume();
    if (closing) response.writeHead(503, { connection: "close", "retry-after": "1" }).end();
    else if (/^\/health\/?$/.test(path)) response.writeHead(200).end();
    else response.writeHead(404, { "content-type": "text/plain" }).end(unknownPath);
  });
  server.on("connection", (socket) => {
    // In Node.js 22 a response that waited behind another one does not say that it is over.
    socket.once("close", () => {
      for (const response of open) if (response.req.socket === socket) forget(response);
    });
  });
  try {
    await once(server.listen(port, host), "listening");
  } catch (error) {
    throw cannotListen(options, error);
  }
  const closed = async (): Promise<void> => {
    const end = once(server, "close");
    server.close();
    // A call whose body is still arriving adds messages.
    await new Promise<void>((resolve) => {
      settle = resolve;
      if (open.size === 0) resolve();
    });
    for (const handler of handlers.values()) await handler.idle();
    server.closeAllConnections();
    await end;
  };
  const close = (): Promise<void> => {
    closing ??= closed();
    return closing;
  };
  return {
    port: (server.address() as AddressInfo).port,
    close,
    [Symbol.asyncDispose]: close,
  };
};
