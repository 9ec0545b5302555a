import type { IncomingMessage } from "node:http";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { HttpError, type ResponseHeaders } from "./response.js";

const mostBytes = 2 * 1024 * 1024;
/** A caller who is still sending reads no answer; so much of a large body is let through and dropped. */
const mostIgnored = 64 * 1024 * 1024;
/** How deep a body may be nested. */
export const mostDepth = 64;

/** The body of a request. @param tooLarge the error for more than so many bytes */
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
      if (!request.complete) reject(new Error("The caller went away."));
    });
  });

/** Lets the rest of a refused body pass, so that the connection can carry the answer. */
export const discard = (request: IncomingMessage): void => {
  let bytes = 0;
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > mostIgnored) request.destroy();
  });
};

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

const tooLarge = (headers: ResponseHeaders = {}): HttpError =>
  new HttpError(400, "400-10424", "The body is larger than 2 MiB.", [], headers);

/** The body of a call. @throws HttpError for more than 2 MiB */
export const readBytes = async (request: IncomingMessage): Promise<Buffer> =>
  hasBody(request) ? receive(request, mostBytes, tooLarge) : Buffer.alloc(0);

/** Whether a value holds others in one another more than so many times. */
export const isDeeperThan = (most: number, value: unknown): boolean =>
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
 * The body of a call of the service: reads it to its end, and parses it when it is asked for, which
 * throws HttpError where it is no JSON object, or is not said to be JSON.
 *
 * @throws HttpError for more than 2 MiB
 */
export const readBody = async (request: IncomingMessage): Promise<() => JsonObject> => {
  const bytes = await readBytes(request);
  return () => parse(bytes, request.headers["content-type"]);
};
