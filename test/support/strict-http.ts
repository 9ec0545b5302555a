import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { closeServer, listenHere } from "./loopback-server.js";

export type Json = Record<string, unknown>;

/** A request whose body has been read. */
export interface Ask {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly bytes?: Buffer;
}

/** The error body of the contract (§2.2). */
export const refuse = (status: number, number: number, developerMessage: string): Reply => ({
  status,
  json: { code: `${status}-${number}`, developerMessage, details: [{ key: "hint" }] },
});

const answer = (response: ServerResponse, { status, headers, json, bytes }: Reply): void => {
  const content = json === undefined ? bytes : Buffer.from(JSON.stringify(json));
  const type = json === undefined ? {} : { "content-type": "application/json;charset=UTF-8" };
  response.writeHead(status, { ...type, ...headers }).end(content);
};

const read = async (request: IncomingMessage): Promise<Ask> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { method = "", url = "", headers } = request;
  return { method, url: new URL(url, "http://x"), headers, body: Buffer.concat(chunks) };
};

/** A server on a free port of this machine; ends all connections when it is closed. */
export const strictServer = async (serve: (ask: Ask) => Reply | Promise<Reply>) => {
  const server = createServer((request, response) => {
    read(request)
      .then(serve)
      .then((reply) => answer(response, reply))
      .catch(() => response.destroy());
  });
  const origin = await listenHere(server);
  return {
    origin,
    close: async () => {
      await closeServer(server);
    },
  };
};
