import { createServer, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { closeServer, listenHere, portOf } from "../../support/loopback-server.js";

/** A proxy that opens a tunnel on CONNECT, to one port of this machine whatever it is asked for. */
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

  private constructor(readonly leadsTo: number | undefined) {
    this.#server.on("connect", (request, socket) => {
      this.asked.push(request.url ?? "");
      this.headers.push(request.headers);
      socket.on("error", () => undefined);
      if (this.leadsTo === undefined) {
        socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
        return;
      }
      const behind = connect(this.leadsTo, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
        behind.pipe(socket).pipe(behind);
      });
      behind.on("error", () => socket.destroy());
    });
  }

  static async open(leadsTo?: number): Promise<TunnelProxy> {
    const proxy = new TunnelProxy(leadsTo);
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
