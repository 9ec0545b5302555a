import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import type { Settings } from "../../../provider/service/settings.js";
import { closeServer, listenHere, portOf } from "../../support/loopback-server.js";

/** A call as the fake service saw it. */
export interface Seen {
  readonly method: string;
  /** Below the base path, query included. */
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export type Handler = (seen: Seen, response: ServerResponse, socket: Socket) => void;

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Handler =>
  (_seen, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };

/** Answers with text that need not be JSON. */
export const raw =
  (status: number, body: string, headers: Record<string, string> = {}): Handler =>
  (_seen, response) => {
    response.writeHead(status, headers);
    response.end(body);
  };

/** One after the other; the last one from then on. */
export const inTurn = (...handlers: readonly Handler[]): Handler => {
  let next = 0;
  return (...call) => {
    handlers[Math.min(next, handlers.length - 1)]?.(...call);
    next += 1;
  };
};

const basePath = "/conversation/v3";

/** A service on a free port whose answers a test scripts; tokens are granted unless scripted too. */
export class FakeHub implements AsyncDisposable {
  readonly calls: Seen[] = [];
  readonly tokenCalls: Seen[] = [];
  handle: Handler = json(404, { code: "404-101", developerMessage: "Not found." });
  handleToken: Handler = (_seen, response) => {
    const token = `token-${this.tokenCalls.length}`;
    json(200, { access_token: token, expires_in: 3600 })(_seen, response, response.req.socket);
  };
  #server = createServer((request, response) => void this.#serve(request, response));

  static async start(handle?: Handler): Promise<FakeHub> {
    const hub = new FakeHub();
    if (handle) hub.handle = handle;
    await listenHere(hub.#server);
    return hub;
  }

  get port(): number {
    return portOf(this.#server);
  }

  settings(changes: Partial<Settings> = {}): Settings {
    const origin = `http://127.0.0.1:${this.port}`;
    return {
      baseUrl: `${origin}${basePath}`,
      tokenUrl: `${origin}/token`,
      clientId: "client-1",
      clientSecret: "canary-client-secret",
      scope: "scope-1",
      share: 1,
      platformName: "platform",
      ownershipMark: "description",
      ...changes,
    };
  }

  /** `GET /channels` and so on, in order. */
  get log(): readonly string[] {
    return this.calls.map(({ method, path }) => `${method} ${path}`);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "", headers } = request;
    const seen = { method, path: url.replace(basePath, ""), headers, body: await text(request) };
    const isToken = url === "/token";
    (isToken ? this.tokenCalls : this.calls).push(seen);
    (isToken ? this.handleToken : this.handle)(seen, response, request.socket);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await closeServer(this.#server);
  }
}
