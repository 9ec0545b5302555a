import type { IncomingMessage, ServerResponse } from "node:http";
import { promisify, TextDecoder } from "node:util";
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from "node:zlib";
import { isObject, jsonIn } from "../../provider/kernel/json.js";
import { quoted } from "../../provider/kernel/text.js";
import { inputInvalid, prepared } from "./caller-input.js";
import { readAtMost } from "./read-at-most.js";

/** A call from the service, in the same form for every kind of server. */
export interface CallbackCall {
  readonly method: string;
  readonly authorization: string | undefined;
  /**
   * Reads, decodes, and parses the body, of which neither the sent nor the decoded form may be
   * longer than `maxBytes` bytes.
   *
   * @param answered aborts when the response has been sent, because nothing waits for the rest then
   */
  readonly body: (maxBytes: number, answered: AbortSignal) => Promise<ParsedBody | BodyRefusal>;
}

/** The value of a body; undefined in it if it is no JSON. */
type ParsedBody = { readonly value: unknown };

/** Why a body is refused. */
export interface BodyRefusal {
  readonly status: 400 | 413 | 415;
  /** Broken rule, such as `its charset "utf-16" is not UTF-8`. */
  readonly rule: string;
}

/** A response, with plain text as its body if it has one. */
export interface CallbackAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text?: string;
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

/** A header of the call. */
type HeaderOf = (
  name: "content-length" | "content-encoding" | "content-type",
) => string | null | undefined;

const tooLong = (maxBytes: number): BodyRefusal => ({
  status: 413,
  rule: `its body is longer than ${maxBytes} bytes (maxBytes)`,
});

const isTooLong = (header: HeaderOf, maxBytes: number): boolean =>
  Number(header("content-length") ?? 0) > maxBytes;

type Decode = (bytes: Uint8Array, options: ZlibOptions) => Promise<Uint8Array>;

/** By content encoding (RFC 9110 §8.4.1). */
const decoders: ReadonlyMap<string, Decode> = new Map([
  ["gzip", promisify(gunzip)],
  ["x-gzip", promisify(gunzip)],
  ["deflate", promisify(inflate)],
  ["br", promisify(brotliDecompress)],
  ["identity", async (bytes) => bytes],
]);

/** Undefined for UTF-8, which JSON is in if nothing is said (RFC 8259 §8.1). */
const charsetRefusal = (header: HeaderOf): BodyRefusal | undefined => {
  const [, charset = "utf-8"] =
    /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(header("content-type") ?? "") ?? [];
  if (/^utf-?8$/i.test(charset)) return undefined;
  return { status: 415, rule: `its charset ${quoted(charset)} is not UTF-8` };
};

const parsedFrom = (bytes: Uint8Array): ParsedBody => ({
  value: jsonIn(new TextDecoder().decode(bytes)),
});

const read = async (
  pieces: AsyncIterable<Uint8Array>,
  header: HeaderOf,
  maxBytes: number,
): Promise<ParsedBody | BodyRefusal> => {
  const encoding = header("content-encoding")?.trim().toLowerCase() || "identity";
  const decode = decoders.get(encoding);
  if (!decode) {
    const rule = `its content encoding ${quoted(encoding)} is none of: gzip, deflate, br`;
    return { status: 415, rule };
  }
  const refusal = charsetRefusal(header);
  if (refusal) return refusal;
  const bytes = isTooLong(header, maxBytes) ? undefined : await readAtMost(pieces, maxBytes);
  if (!bytes) return tooLong(maxBytes);
  try {
    // Decoding stops at the limit, whatever the body would become.
    return parsedFrom(await decode(bytes, { maxOutputLength: maxBytes }));
  } catch (error) {
    if (isObject(error) && error.code === "ERR_BUFFER_TOO_LARGE") return tooLong(maxBytes);
    return { status: 400, rule: `its body is not valid ${encoding}` };
  }
};

/** Text may quote the caller: nothing takes it for a page. */
const headersOf = ({ headers, text }: CallbackAnswer): Readonly<Record<string, string>> =>
  text === undefined ? { ...headers } : { ...headers, "content-type": "text/plain; charset=utf-8" };

const send = (response: ServerResponse, answer: CallbackAnswer): void => {
  if (response.headersSent || response.destroyed) return;
  const { status, text = "" } = answer;
  const length = { "content-length": Buffer.byteLength(text) };
  response.writeHead(status, { ...headersOf(answer), ...length }).end(text);
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
    await handled(answer, request, response, (maxBytes) =>
      // The request stays open if reading stops early, so that it can still be answered.
      read(request.iterator({ destroyOnReturn: false }), (name) => request.headers[name], maxBytes),
    );
  };

/** What a body parser left; it has undone the encoding and, unless it left bytes, the charset. */
const parsedOf = (body: unknown, header: HeaderOf): ParsedBody | BodyRefusal => {
  if (typeof body === "string") return { value: jsonIn(body) };
  if (body instanceof Uint8Array) return charsetRefusal(header) ?? parsedFrom(body);
  return { value: body };
};

export const expressHandler = (answer: Answering): ExpressHandler => {
  const plain = nodeHandler(answer);
  return (request, response) => {
    // Parsers of different age leave undefined or {} if they did nothing.
    const isParsed = request?.body !== undefined && request.readableEnded;
    if (!isParsed) return plain(request, response);
    const header: HeaderOf = (name) => request.headers[name];
    return handled(answer, request, response, async (maxBytes) =>
      isTooLong(header, maxBytes) ? tooLong(maxBytes) : parsedOf(request.body, header),
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
    const answered = await answer({
      method: request.method,
      authorization: request.headers.get("authorization") ?? undefined,
      body: async (maxBytes, ended) => {
        if (!request.body) return { value: undefined };
        const header: HeaderOf = (name) => request.headers.get(name);
        return read(piecesUntil(request.body, ended), header, maxBytes);
      },
    });
    const { status, text = null } = answered;
    return new Response(text, { status, headers: headersOf(answered) });
  };
