import type { IncomingMessage, ServerResponse } from "node:http";
import { TextDecoder } from "node:util";
import type { ConversationError } from "../../../provider/kernel/errors.js";
import { inputInvalid, prepared } from "../caller-input.js";
import type { CallbackAnswer, CallbackCall, CallContent } from "./callback-call.js";

/** Handles a request of node:http. Never fails. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Handles a request of Express. Never fails, and never calls `next`. */
export type ExpressHandler = (
  request: IncomingMessage & { readonly body?: unknown },
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => Promise<void>;

/** Handles a request of the fetch standard. Never fails. */
export type FetchHandler = (request: Request) => Promise<Response>;

type Answering = (call: CallbackCall) => Promise<CallbackAnswer>;

const tooLong = (header: string | null | undefined, maxBytes: number): boolean =>
  Number(header ?? 0) > maxBytes;

/** Reads up to so many bytes; undefined where there are more. */
const read = async (
  pieces: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<CallContent | undefined> => {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.byteLength;
    if (bytes > maxBytes) return undefined;
    text += decoder.decode(piece, { stream: true });
  }
  return { text: text + decoder.decode() };
};

const send = (response: ServerResponse, { status, headers = {} }: CallbackAnswer): void => {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { ...headers, "content-length": "0" }).end();
};

/** So much of a body that is not wanted is let through, so that the caller reads the answer. */
const mostIgnored = 16 * 1024 * 1024;

const dropRest = (request: IncomingMessage): void => {
  let bytes = 0;
  request.on("error", () => {});
  request.on("data", (piece: Uint8Array) => {
    bytes += piece.byteLength;
    if (bytes > mostIgnored) request.destroy();
  });
};

const handled = async (
  answer: Answering,
  request: IncomingMessage,
  response: ServerResponse,
  body: CallbackCall["body"],
): Promise<void> => {
  const { method = "", headers } = request;
  const { authorization } = headers;
  send(response, await answer({ method, authorization, body }));
  if (!request.readableEnded) dropRest(request);
};

const mistaken = (what: string): ConversationError =>
  inputInvalid("answer a callback", `the handler was not called with ${what}`);

const has = (value: unknown, name: string, method: string): boolean =>
  prepared("answer a callback", () => {
    const member: unknown =
      typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
    if (method === "") return typeof member === "object" && member !== null;
    return typeof member === "object" && member !== null
      ? typeof Reflect.get(member, method) === "function"
      : false;
  });

export const nodeHandler =
  (answer: Answering): NodeHandler =>
  async (request, response) => {
    if (!has(request, "headers", "") || typeof response?.writeHead !== "function") {
      throw mistaken("a request and a response of node:http");
    }
    await handled(answer, request, response, async (maxBytes) => {
      if (tooLong(request.headers["content-length"], maxBytes)) return undefined;
      return read(unended(request), maxBytes);
    });
  };

/** Pieces of a request that stays open when reading stops early, so that it can still be answered. */
const unended = (request: IncomingMessage): AsyncIterable<Uint8Array> =>
  request.iterator({ destroyOnReturn: false });

/** What a body parser left. */
const contentOf = (body: unknown): CallContent => {
  if (typeof body === "string") return { text: body };
  if (body instanceof Uint8Array) return { text: new TextDecoder().decode(body) };
  return { value: body };
};

export const expressHandler = (answer: Answering): ExpressHandler => {
  const plain = nodeHandler(answer);
  return (request, response) => {
    // Parsers of different age leave undefined or {} where they did nothing.
    const isParsed = request?.body !== undefined && request.readableEnded;
    if (!isParsed) return plain(request, response);
    return handled(answer, request, response, async (maxBytes) =>
      tooLong(request.headers["content-length"], maxBytes) ? undefined : contentOf(request.body),
    );
  };
};

export const fetchHandler =
  (answer: Answering): FetchHandler =>
  async (request) => {
    if (!has(request, "headers", "get")) throw mistaken("a Request of the fetch standard");
    const { status, headers } = await answer({
      method: request.method,
      authorization: request.headers.get("authorization") ?? undefined,
      body: async (maxBytes) => {
        if (tooLong(request.headers.get("content-length"), maxBytes)) return undefined;
        return request.body ? read(request.body, maxBytes) : { text: "" };
      },
    });
    return new Response(null, { status, ...(headers ? { headers } : {}) });
  };
