import { createServer, type IncomingMessage } from "node:http";
import { closeServer, listenHere, portOf } from "../../support/loopback-server.js";

/** A proxy that is asked for tunnels, and opens none. */
export class TunnelProxy implements AsyncDisposable {
  /** What tunnels were asked for, such as `hub.example.com:443`. */
  readonly asked: string[] = [];
  /** Headers of those calls, and of calls that were not meant for a tunnel. */
  readonly headers: IncomingMessage["headers"][] = [];
  readonly #server = createServer((request, response) => {
    this.headers.push(request.headers);
    this.asked.push(`${request.method} ${request.url}`);
    response.writeHead(200, { "content-type": "application/json" }).end('{"via":"proxy"}');
  });

  private constructor() {
    this.#server.on("connect", (request, socket) => {
      this.asked.push(request.url ?? "");
      this.headers.push(request.headers);
      socket.on("error", () => undefined);
      socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
    });
  }

  static async open(): Promise<TunnelProxy> {
    const proxy = new TunnelProxy();
    await listenHere(proxy.#server);
    return proxy;
  }

  get address(): string {
    return `127.0.0.1:${portOf(this.#server)}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await closeServer(this.#server);
  }
}
