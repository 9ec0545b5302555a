import type { IncomingMessage, ServerResponse } from "node:http";
import { asText, isObject, type JsonObject } from "../../provider/kernel/json.js";
import { abbreviated } from "../../provider/kernel/text.js";

export type ResponseHeaders = Readonly<Record<string, string>>;

export interface ServiceResponse {
  readonly status: number;
  /**
   * Text and bytes are sent unchanged; anything else is sent as JSON. If omitted, there is no body.
   */
  readonly body?: unknown;
  readonly headers?: ResponseHeaders;
}

const cut = (text: string): string => abbreviated(text, 255);

/**
 * The error for a refused call. Its response has one of the service's error bodies (public
 * reference).
 */
export class HttpError extends Error {
  override readonly name: string = "HttpError";

  constructor(
    readonly status: number,
    /** The error code: `<status>-<number>`. */
    readonly code: string,
    message: string,
    readonly details: readonly { readonly key: string; readonly value: string }[] = [],
    readonly headers: ResponseHeaders = {},
  ) {
    super(message);
  }

  response(): ServiceResponse {
    const details = this.details
      .slice(0, 30)
      .map(({ key, value }) => ({ key: cut(key), value: cut(value) }));
    const body: JsonObject = {
      code: this.code,
      developerMessage: cut(this.message),
      ...(details.length > 0 ? { details } : {}),
    };
    return { status: this.status, body, headers: this.headers };
  }
}

/** Why the service refused a call, in one line; undefined for any other response. */
export const reasonOf = ({ status, body }: ServiceResponse): string | undefined => {
  if (status < 400 || !isObject(body)) return undefined;
  // The token URL has the members of OAuth (RFC 6749 §5.2).
  const { code = body.error, developerMessage = body.error_description } = body;
  return `${asText(code)} ${asText(developerMessage)}`.trim() || undefined;
};

/**
 * The error that the caller receives. Failures of the emulator itself, such as a full disk, become
 * error 500-100.
 */
export const failureOf = (error: unknown): HttpError =>
  error instanceof HttpError
    ? error
    : new HttpError(500, "500-100", `The emulator failed: ${String(error)}`);

/** The handler's response, or an error response if the handler fails. */
export const responseOf = (work: () => ServiceResponse): ServiceResponse => {
  try {
    return work();
  } catch (error) {
    return failureOf(error).response();
  }
};

export interface ControlCall {
  readonly query: URLSearchParams;
  /** @throws Error if the body is not JSON, or is nested too deeply */
  readonly body: () => unknown;
}

/**
 * Functions for control calls, such as `POST /clock`. If one throws an Error, the error's message
 * is the reason for the refusal.
 */
export type ControlRoutes = Readonly<Record<string, (call: ControlCall) => ServiceResponse>>;

export const jsonResponse = (body: unknown): ServiceResponse => ({ status: 200, body });

/**
 * A placeholder for no response: the connection is closed, or kept open forever. The log shows
 * status 0.
 */
export const noResponse: ServiceResponse = { status: 0 };

/** A body in the form in which it is sent. */
export const serialised = (body: unknown): string | Buffer =>
  typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);

export const sendResponse = (
  response: ServerResponse,
  { status, body, headers = {} }: ServiceResponse,
): void => {
  if (response.destroyed) return;
  if (body === undefined) {
    response.writeHead(status, headers).end();
    return;
  }
  const text = serialised(body);
  response
    .writeHead(status, {
      "content-type": typeof body === "string" ? "text/html" : "application/json",
      "content-length": Buffer.byteLength(text),
      ...headers,
    })
    .end(text);
};

/**
 * The error for a value that has a valid form but breaks a rule, such as a reference to a missing
 * object (error 400-196, vendor; which code a missing object has is assumed).
 */
export const invalidAttribute = (path: string, rule: string, code = "400-196"): HttpError =>
  new HttpError(400, code, `${path}: ${rule}.`, [{ key: path, value: rule }]);

const mostBytes = 2 * 1024 * 1024;
/** A caller who is still sending reads no answer; this much of a large body is read and dropped. */
const mostIgnored = 64 * 1024 * 1024;
/** Maximum nesting depth of a body. */
const mostDepth = 64;

/** Receives the body of a request. @param tooLarge the error for a larger body */
export const receive = (
  request: IncomingMessage,
  most: number,
  tooLarge: (headers?: ResponseHeaders) => HttpError,
): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= most) chunks.push(chunk);
      else chunks = [];
      if (bytes > mostIgnored) reject(tooLarge({ connection: "close" }));
    });
    request.on("end", () => (bytes > most ? reject(tooLarge()) : resolve(Buffer.concat(chunks))));
    request.on("error", reject);
    request.on("close", () => {
      if (!request.complete) reject(new Error("The caller closed the connection."));
    });
  });

/**
 * Reads and discards the rest of a body, so that the connection can carry the response, or the next
 * call; closes it after `most` bytes.
 */
export const discard = (message: IncomingMessage, most = mostIgnored): void => {
  let bytes = 0;
  message.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > most) message.destroy();
  });
};

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

const tooLarge = (headers: ResponseHeaders = {}): HttpError =>
  new HttpError(400, "400-10424", "The body is larger than 2 MiB.", [], headers);

/** Reads the body of a call. @throws HttpError for more than 2 MiB */
export const readBytes = async (request: IncomingMessage): Promise<Buffer> =>
  hasBody(request) ? receive(request, mostBytes, tooLarge) : Buffer.alloc(0);

/** Whether a value is nested more deeply than `most` levels. */
const isDeeperThan = (most: number, value: unknown): boolean =>
  most < 0 ||
  (typeof value === "object" &&
    value !== null &&
    Object.values(value).some((member) => isDeeperThan(most - 1, member)));

const malformed = (what: string): HttpError => new HttpError(400, "400-100", `The body ${what}.`);

const jsonIn = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw malformed("is not JSON in UTF-8");
  }
};

const parse = (bytes: Buffer, contentType = ""): JsonObject => {
  if (!/^application\/json\s*(;|$)/i.test(contentType))
    throw malformed("must have the content type application/json");
  if (bytes.length === 0) throw malformed("is missing");
  const value = jsonIn(bytes);
  if (!isObject(value)) throw malformed("must be a JSON object");
  if (isDeeperThan(mostDepth, value)) throw malformed("is nested too deeply");
  return value;
};

/**
 * Reads the complete body of a call to the service. @throws HttpError for more than 2 MiB; `json`
 * does so unless the body is a JSON object and is declared as JSON
 */
export const readBody = async (request: IncomingMessage) => {
  const bytes = await readBytes(request);
  return { bytes, json: () => parse(bytes, request.headers["content-type"]) };
};
