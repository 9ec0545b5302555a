import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { closeServer, listenHere, originOf } from "./loopback-server.js";

/** A call as it arrived: `PUT /channels/…`, and when. */
export interface TimedCall {
  readonly call: string;
  readonly at: number;
  readonly status: number;
}

/** What stands in front of a service: rates, and scopes that the token lacks. */
export interface LimitedService {
  /** Settings of the service, its addresses replaced. */
  readonly environment: Readonly<Record<string, string>>;
  readonly calls: TimedCall[];
  /** Scopes that the next token has; undefined: the token says nothing, and everything is allowed. */
  scopes: readonly string[] | undefined;
  readonly close: () => Promise<void>;
}

const read = async (stream: AsyncIterable<Buffer>): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
};

const manage = "app.conversation.conversationmgr.manage";

/**
 * Puts rates and scopes in front of a service that has none, written by hand from the specification.
 *
 * @param perSecond calls of each endpoint; undefined: no limit
 */
export const limitedService = async (
  settings: Readonly<Record<string, string>>,
  perSecond?: number,
): Promise<LimitedService> => {
  const base = new URL(settings.CONVERSATION_BASE_URL ?? "");
  const login = new URL(settings.CONVERSATION_TOKEN_URL ?? "");
  const calls: TimedCall[] = [];
  const tokens = new Map<string, number>();
  const service: { scopes: readonly string[] | undefined } = { scopes: undefined };

  const isAllowed = (endpoint: string): boolean => {
    if (perSecond === undefined) return true;
    const freeAt = tokens.get(endpoint) ?? 0;
    const now = performance.now();
    // A hundredth of leeway for the clocks of two processes.
    if (now < freeAt - 10) return false;
    tokens.set(endpoint, Math.max(now, freeAt) + 1000 / perSecond);
    return true;
  };

  const pass = (incoming: IncomingMessage, body: Buffer) =>
    new Promise<{ status: number; text: Buffer }>((resolve, reject) => {
      const { method, headers, url } = incoming;
      const { host: _, ...others } = headers;
      const sent = request(base.origin + url, { method, headers: others }, (answer) => {
        read(answer).then((text) => resolve({ status: answer.statusCode ?? 0, text }), reject);
      });
      sent.on("error", reject);
      sent.end(body);
    });

  const answer = (response: ServerResponse, status: number, body: Buffer | object): void => {
    const text = Buffer.isBuffer(body) ? body : JSON.stringify(body);
    response.writeHead(status, { "content-type": "application/json" }).end(text);
  };

  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await read(incoming);
    const [path = ""] = (incoming.url ?? "").split("?");
    if (path === login.pathname) {
      const { status, text } = await pass(incoming, body);
      const granted = service.scopes ? { scope: service.scopes.join(" ") } : {};
      return answer(response, status, { ...JSON.parse(text.toString()), ...granted });
    }
    const below = path.replace(base.pathname, "");
    const endpoint = `${incoming.method} ${below.replace(/(?<=^\/[^/]+\/).+/, "{id}")}`;
    const lacks = service.scopes !== undefined && !service.scopes.includes(manage);
    const refusal = !isAllowed(endpoint)
      ? { status: 429, body: { code: "429-001", developerMessage: "Too many requests." } }
      : lacks && (incoming.method !== "GET" || below === "/authentications")
        ? { status: 403, body: { code: "403-197", developerMessage: "scope" } }
        : undefined;
    const { status, text } = refusal
      ? { status: refusal.status, text: Buffer.from(JSON.stringify(refusal.body)) }
      : await pass(incoming, body);
    calls.push({ call: `${incoming.method} ${below}`, at: performance.now(), status });
    answer(response, status, text);
  };

  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => response.destroy());
  });
  await listenHere(server);
  const origin = originOf(server);
  return Object.assign(service, {
    environment: {
      ...settings,
      CONVERSATION_BASE_URL: origin + base.pathname,
      CONVERSATION_TOKEN_URL: origin + login.pathname,
    },
    calls,
    close: async () => {
      await closeServer(server);
    },
  });
};
