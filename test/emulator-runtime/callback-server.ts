import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { onTestFinished } from "vitest";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { listenHere, originOf } from "../support/loopback-server.js";

/** One call that came in. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: JsonObject;
  /** The message of a callback in version v3. */
  readonly message: JsonObject;
}

type Answer = (received: Received, response: ServerResponse, place: number) => void;

const objectIn = (text: string): JsonObject => {
  const value: unknown = JSON.parse(text || "{}");
  return isObject(value) ? value : {};
};

const messageIn = (json: JsonObject): JsonObject => {
  const list = isObject(json.messages) ? json.messages.message : json.message;
  const first: unknown = Array.isArray(list) ? list[0] : undefined;
  return isObject(first) ? first : {};
};

/** A server on loopback that keeps what it gets. */
export class CallbackServer {
  readonly received: Received[] = [];
  answer: Answer = (_received, response) => void response.writeHead(200).end();
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString("utf8");
      const json = objectIn(text);
      const { method = "", url = "", headers } = request;
      const received = { method, path: url, headers, text, json, message: messageIn(json) };
      this.received.push(received);
      this.answer(received, response, this.received.length);
      for (const check of this.#waiting) check();
    });
  });
  readonly #sockets = new Set<Socket>();
  readonly #waiting = new Set<() => void>();

  get url(): string {
    return originOf(this.#server);
  }

  /** Own ids of the messages that came, in order. */
  get messageIds(): unknown[] {
    return this.received.map(({ message }) => message.messageId);
  }

  count(calls: number): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (this.received.length < calls) return;
        this.#waiting.delete(check);
        resolve();
      };
      this.#waiting.add(check);
      check();
    });
  }

  /** Waits until a connection of a caller has ended. */
  ended(): Promise<void> {
    return new Promise((resolve) => {
      for (const socket of this.#sockets) socket.once("close", () => resolve());
    });
  }

  async listen(): Promise<void> {
    this.#server.on("connection", (socket) => this.#sockets.add(socket));
    await listenHere(this.#server);
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}

export const callbackServer = async (): Promise<CallbackServer> => {
  const server = new CallbackServer();
  await server.listen();
  onTestFinished(() => server.close());
  return server;
};

export const answering =
  (status: number, headers: Readonly<Record<string, string>> = {}): Answer =>
  (_received, response) =>
    void response.writeHead(status, headers).end();
