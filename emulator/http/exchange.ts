import type { IncomingMessage, ServerResponse } from "node:http";
import { asText, isObject, type JsonObject } from "../../provider/kernel/json.js";
import { abbreviated } from "../../provider/kernel/text.js";

export type ResponseHeaders = Readonly<Record<string, string>>;

/** A response from the service. */
export interface ServiceResponse {
  readonly status: number;
  /**
   * Text and bytes are sent unchanged; anything else is sent as JSON. If omitted, there is no body.
   */
  readonly body?: unknown;
  readonly headers?: ResponseHeaders;
}

interface Detail {
  readonly key: string;
  readonly value: string;
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
    readonly details: readonly Detail[] = [],
    readonly headers: ResponseHeaders = {},
  ) {
    super(message);
  }

  /** @param forUsers whether to include a message for users, which the caller must request */
  response(forUsers = false): ServiceResponse {
    const details = this.details
      .slice(0, 30)
      .map(({ key, value }) => ({ key: cut(key), value: cut(value) }));
    const body: JsonObject = {
      code: this.code,
      developerMessage: cut(this.message),
      ...(details.length > 0 ? { details } : {}),
      ...(forUsers ? { userMessage: cut(this.message) } : {}),
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

/** One call to the control interface. */
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

/** Sends a response in full. */
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

/** Maximum number of details in an error body (sibling service, assumed). */
const mostErrors = 30;

/**
 * The error for a value that has a valid form but breaks a rule, such as a reference to a missing
 * object (error 400-196, vendor; which code a missing object has is assumed).
 */
export const invalidAttribute = (path: string, rule: string, code = "400-196"): HttpError =>
  new HttpError(400, code, `${path}: ${rule}.`, [{ key: path, value: rule }]);

interface Found {
  readonly list: { readonly path: string; readonly code: string; readonly rule: string }[];
  hasBrokenShape: boolean;
}

/** The errors found in a body, in order. New errors are recorded at `path`. */
export class ValidationErrors {
  readonly #found: Found;

  constructor(
    readonly path = "",
    found: Found = { list: [], hasBrokenShape: false },
  ) {
    this.#found = found;
  }

  /** Returns a view of the same errors. The view records each new error under the given member. */
  at(member: string): ValidationErrors {
    return new ValidationErrors(this.path ? `${this.path}.${member}` : member, this.#found);
  }

  /** Returns a view of the same errors. The view records each new error under the given item. */
  item(index: number): ValidationErrors {
    return new ValidationErrors(`${this.path}[${index}]`, this.#found);
  }

  /** Records that a required attribute is missing (error 400-143, vendor). */
  missing(): void {
    this.#add("400-143", "a required attribute is missing");
  }

  /** Records a value that is not allowed (error 400-196, vendor). */
  invalid(rule: string): void {
    this.#add("400-196", rule);
  }

  /** Records a text or a list that is too long (error 400-358, vendor). */
  tooLong(rule: string): void {
    this.#add("400-358", rule);
  }

  /** Records a value that must be unique within the body (error 400-138, vendor). */
  duplicate(): void {
    this.#add("400-138", "must be unique");
  }

  /** Records a member that the schema does not have (error 400-420, vendor). */
  unknown(rule = "is not a known attribute"): void {
    this.#add("400-420", rule);
  }

  /** Records that a value is not one of the allowed words (error 400-196, vendor). */
  notAllowed(words: readonly string[]): void {
    this.#add("400-196", `must be one of ${words.join(", ")}`);
  }

  /** Records a message type that this sender may not send (error 400-199, vendor). */
  notForSender(words: readonly string[]): void {
    this.#add("400-199", `must be one of ${words.join(", ")} for this sender`);
  }

  /** Records a value of another type (error 400-196, vendor). */
  wrongType(rule: string): void {
    this.#found.hasBrokenShape = true;
    this.#add("400-196", rule);
  }

  /** Whether a value has another type. */
  get hasBrokenShape(): boolean {
    return this.#found.hasBrokenShape;
  }

  /** @throws HttpError for the first error, with all errors as details */
  assertNone(): void {
    const { list } = this.#found;
    const [first] = list;
    if (!first) return;
    const details = list.map(({ path, rule }) => ({ key: path, value: rule }));
    throw new HttpError(400, first.code, `${first.path}: ${first.rule}.`, details);
  }

  #add(code: string, rule: string): void {
    const { list } = this.#found;
    if (list.length < mostErrors) list.push({ path: this.path, code, rule });
  }
}

const mostBytes = 2 * 1024 * 1024;
/** A caller who is still sending reads no answer; this much of a large body is read and dropped. */
const mostIgnored = 64 * 1024 * 1024;
/** Maximum nesting depth of a body. */
export const mostDepth = 64;

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

/** The body of a call to the service. */
export interface ReceivedBody {
  readonly bytes: Buffer;
  /** Parses the body. @throws HttpError unless the body is a JSON object and is declared as JSON */
  readonly json: () => JsonObject;
}

/** Reads the complete body of a call to the service. @throws HttpError for more than 2 MiB */
export const readBody = async (request: IncomingMessage): Promise<ReceivedBody> => {
  const bytes = await readBytes(request);
  return { bytes, json: () => parse(bytes, request.headers["content-type"]) };
};
