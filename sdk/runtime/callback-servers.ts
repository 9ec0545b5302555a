import type { IncomingMessage, ServerResponse } from "node:http";
import { TextDecoder } from "node:util";
import { isObject, jsonIn } from "../../provider/kernel/json.js";
import { inputInvalid, prepared } from "./caller-input.js";

/** A call from the service, in the same form for every kind of server. */
export interface CallbackCall {
  readonly method: string;
  readonly authorization: string | undefined;
  /**
   * Reads and parses the body; returns undefined if it is longer than `maxBytes` bytes.
   *
   * @param answered aborts when the response has been sent, because nothing waits for the rest then
   */
  readonly body: (maxBytes: number, answered: AbortSignal) => Promise<ParsedBody | undefined>;
}

/** The value of a body; undefined in it if it is no JSON. */
type ParsedBody = { readonly value: unknown };

/** A response without a body. */
export interface CallbackAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Handles a node:http request. Never fails. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Handles an Express request. Never fails, and never calls `next`. */
export type ExpressHandler = (
  request: IncomingMessage & { readonly body?: unknown },
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => Promise<void>;

/** Handles a `Request` as defined by the Fetch standard. Never fails. */
export type FetchHandler = (request: Request) => Promise<Response>;

type Answering = (call: CallbackCall) => Promise<CallbackAnswer>;

const tooLong = (header: string | null | undefined, maxBytes: number): boolean =>
  Number(header ?? 0) > maxBytes;

/** Reads up to so many bytes; undefined if there are more. */
const read = async (
  pieces: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<ParsedBody | undefined> => {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.byteLength;
    if (bytes > maxBytes) return undefined;
    text += decoder.decode(piece, { stream: true });
  }
  return { value: jsonIn(text + decoder.decode()) };
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

const doing = "respond to a callback";

/** A member of the handler's argument, which may be anything. */
const memberOf = (value: unknown, name: string): unknown =>
  prepared(doing, () => Reflect.get(Object(value), name));

export const nodeHandler =
  (answer: Answering): NodeHandler =>
  async (request, response) => {
    const headers = memberOf(request, "headers");
    if (!isObject(headers) || typeof memberOf(response, "writeHead") !== "function") {
      throw inputInvalid(doing, "the handler needs a node:http request and response");
    }
    await handled(answer, request, response, async (maxBytes) => {
      if (tooLong(request.headers["content-length"], maxBytes)) return undefined;
      // The request stays open if reading stops early, so that it can still be answered.
      return read(request.iterator({ destroyOnReturn: false }), maxBytes);
    });
  };

/** What a body parser left. */
const parsedOf = (body: unknown): ParsedBody => {
  if (typeof body === "string") return { value: jsonIn(body) };
  if (body instanceof Uint8Array) return { value: jsonIn(new TextDecoder().decode(body)) };
  return { value: body };
};

export const expressHandler = (answer: Answering): ExpressHandler => {
  const plain = nodeHandler(answer);
  return (request, response) => {
    // Parsers of different age leave undefined or {} if they did nothing.
    const isParsed = request?.body !== undefined && request.readableEnded;
    if (!isParsed) return plain(request, response);
    return handled(answer, request, response, async (maxBytes) =>
      tooLong(request.headers["content-length"], maxBytes) ? undefined : parsedOf(request.body),
    );
  };
};

/** The pieces of a body, which is cancelled if it is left early, also while the next one is waited for. */
async function* piecesUntil(
  body: ReadableStream<Uint8Array>,
  answered: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  const leave = (): void => void reader.cancel().catch(() => {});
  answered.addEventListener("abort", leave);
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    answered.removeEventListener("abort", leave);
    leave();
  }
}

export const fetchHandler =
  (answer: Answering): FetchHandler =>
  async (request) => {
    if (typeof memberOf(memberOf(request, "headers"), "get") !== "function") {
      throw inputInvalid(doing, "the handler needs a Request as defined by the Fetch standard");
    }
    const { status, headers } = await answer({
      method: request.method,
      authorization: request.headers.get("authorization") ?? undefined,
      body: async (maxBytes, answered) => {
        if (tooLong(request.headers.get("content-length"), maxBytes)) return undefined;
        if (!request.body) return { value: undefined };
        return read(piecesUntil(request.body, answered), maxBytes);
      },
    });
    return new Response(null, { status, ...(headers ? { headers } : {}) });
  };
