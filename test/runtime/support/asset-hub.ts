import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { type ConversationClient, connect } from "../../../sdk/runtime/index.js";
import { JumpingClock } from "../../service/support/clocks.js";
import { closeServer, listenHere, portOf } from "../../support/loopback-server.js";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_request, response) => {
    response.writeHead(code, headers).end();
  };

/** A call to the hub, or to a signed address of it. */
interface Seen {
  readonly line: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** A service with the three asset operations only, whose signed addresses a test scripts. */
export class AssetHub implements AsyncDisposable {
  readonly calls: Seen[] = [];
  /** Answers of the signed addresses, in turn; the last one from then on. */
  content: Answer[] = [status(200)];
  /** What the asset operations add to their answers. */
  about: Record<string, unknown> = {};
  deletion: Answer = status(204);
  /** Scope of the tokens. */
  scope = "app.conversation.conversationmgr.interaction.manage";
  /** Address that is given out in place of the hub's own. */
  address: string | undefined;
  readonly clock = new JumpingClock();
  #addresses = 0;
  #assets = 0;
  #server = createServer((request, response) => void this.#serve(request, response));
  #client: ConversationClient | undefined;

  static async start(): Promise<AssetHub> {
    const hub = new AssetHub();
    await listenHere(hub.#server);
    return hub;
  }

  get origin(): string {
    return `http://127.0.0.1:${portOf(this.#server)}`;
  }

  get client(): ConversationClient {
    this.#client ??= connect(
      {
        baseUrl: `${this.origin}/conversation/v3`,
        tokenUrl: `${this.origin}/token`,
        clientId: "id",
        clientSecret: "secret",
      },
      {
        clock: this.clock,
        pacing: "after-refusal",
        retry: { minTimeoutMs: 0, maxTimeoutMs: 0 },
        environment: {},
      },
    );
    return this.#client;
  }

  /** Calls in order, those for a token left out. */
  get log(): readonly string[] {
    return this.calls.map(({ line }) => line);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request).catch(() => undefined);
    if (!body) return;
    const path = (request.url ?? "").replace("/conversation/v3", "");
    if (path === "/token") {
      const { scope } = this;
      return this.#json(response, { access_token: "t", expires_in: 3600, scope });
    }
    const line = `${request.method} ${path}`;
    this.calls.push({ line, headers: request.headers, body });
    if (path.startsWith("/content/")) {
      const next = this.content.length > 1 ? this.content.shift() : this.content[0];
      return next?.(request, response);
    }
    if (request.method === "DELETE") return this.deletion(request, response);
    const id = request.method === "POST" ? `a-${++this.#assets}` : path.split("/")[2];
    this.#addresses += 1;
    const contentUrl = this.address ?? `${this.origin}/content/${id}?signature=s${this.#addresses}`;
    return this.#json(response, { id, contentUrl, ...this.about });
  }

  #json(response: ServerResponse, body: unknown): void {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client?.close();
    await closeServer(this.#server);
  }
}
