import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import { Readable } from "node:stream";
import { type CallbackOptions, type Callbacks, callbacks } from "../../../sdk/runtime/index.js";
import type { ReceivedMessage } from "../../../sdk/runtime/received-message.js";
import { nextTurn } from "../../service/support/clocks.js";
import { closeServer, listenHere, portOf } from "../../support/loopback-server.js";

export const basic = (username: string, password: string): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;

export const right = basic("hub", "secret");

export type Json = Record<string, unknown>;

/** A message as the service would deliver it. */
export const message = (id: string, text = id, change: Json = {}): Json => ({
  id,
  type: { value: "text" },
  conversation: { id: "c-1" },
  sender: { type: "customer", participant: { name: "Ada" } },
  content: { text },
  ...change,
});

export const bodyWith = (...messages: unknown[]): Json => ({ messages: { message: messages } });

/** Calls a handler as a server of Node would, without one. */
export const ask = (
  handler: Pick<Callbacks, "node">,
  body: string | AsyncIterable<Uint8Array>,
  headers: Readonly<Record<string, string>> = { authorization: right },
  method = "POST",
): Promise<Response> =>
  new Promise((resolve) => {
    const bytes = typeof body === "string" ? [Buffer.from(body)] : body;
    const request = Object.assign(Readable.from(bytes), { method, headers });
    let head: { status: number; headers: Record<string, string> };
    const response = {
      writeHead: (status: number, given: Record<string, string>) => {
        head = { status, headers: given };
      },
      end: (text: string) => resolve(new Response(text || null, head)),
    };
    // Only what a handler uses of both.
    void handler.node(request as unknown as IncomingMessage, response as unknown as ServerResponse);
  });

/** A handler with everything that reached its program. */
export interface Receiver {
  readonly handler: Callbacks;
  readonly received: ReceivedMessage[];
  readonly errors: unknown[];
  /** Delivers a body and waits until all work is done; gives back the answer. */
  deliver(body: unknown, authorization?: string | null): Promise<Response>;
}

export const receiver = (options: Partial<CallbackOptions> = {}): Receiver => {
  const received: ReceivedMessage[] = [];
  const errors: unknown[] = [];
  const handler = callbacks({
    authenticate: { basic: { username: "hub", password: "secret" } },
    onMessage: (each) => {
      received.push(each);
    },
    onError: (error) => {
      errors.push(error);
    },
    ...options,
  });
  const deliver: Receiver["deliver"] = async (body, authorization = right) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const response = await ask(handler, text, authorization === null ? {} : { authorization });
    await handler.idle();
    return response;
  };
  return { handler, received, errors, deliver };
};

/** Serves a handler on a free port for as long as a test uses it. */
export const served = async (listener: RequestListener) => {
  const server = createServer(listener);
  await listenHere(server);
  return {
    url: `http://127.0.0.1:${portOf(server)}/`,
    [Symbol.asyncDispose]: async () => {
      await closeServer(server);
    },
  };
};

/** Delivers messages, and does not wait for the work on them. */
export const call = (handler: Callbacks, ...messages: unknown[]): Promise<Response> =>
  ask(handler, JSON.stringify(bodyWith(...messages)));

export const inConversation = (conversation: string, id: string) =>
  message(id, id, { conversation: { id: conversation } });

export const never = () => new Promise<void>(() => {});

/** Lets what was begun go as far as it can. */
export const progressed = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await nextTurn();
};
