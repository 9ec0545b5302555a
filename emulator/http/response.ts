import type { ServerResponse } from "node:http";
import { asText, isObject, type JsonObject } from "../../provider/kernel/json.js";
import { abbreviated } from "../../provider/kernel/quoted.js";

export type ResponseHeaders = Readonly<Record<string, string>>;

/** What the service answers. */
export interface ServiceResponse {
  readonly status: number;
  /** Text and bytes are sent as they are, anything else as JSON; left out: no body. */
  readonly body?: unknown;
  readonly headers?: ResponseHeaders;
}

interface Detail {
  readonly key: string;
  readonly value: string;
}

const cut = (text: string): string => abbreviated(text, 255);

/** The only way in which a part of the emulator says no: an error body of the service (public reference). */
export class HttpError extends Error {
  override readonly name: string = "HttpError";

  constructor(
    readonly status: number,
    /** `<status>-<number>`. */
    readonly code: string,
    message: string,
    readonly details: readonly Detail[] = [],
    readonly headers: ResponseHeaders = {},
  ) {
    super(message);
  }

  /** @param forUsers also with a message for users, which a caller must ask for */
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

/** Why the service says no, in one line; undefined for any other answer. */
export const reasonOf = ({ status, body }: ServiceResponse): string | undefined => {
  if (status < 400 || !isObject(body)) return undefined;
  return `${asText(body.code)} ${asText(body.developerMessage)}`.trim() || undefined;
};

/** What a failure is to the caller: what goes wrong in the emulator itself, such as a full disk, is unexpected (500-100). */
export const failureOf = (error: unknown): HttpError =>
  error instanceof HttpError
    ? error
    : new HttpError(500, "500-100", `The emulator failed: ${String(error)}`);

/** The response that the work gives, or that of its failure. */
export const responseOf = (work: () => ServiceResponse): ServiceResponse => {
  try {
    return work();
  } catch (error) {
    return failureOf(error).response();
  }
};

/** Nothing is to be sent: the connection is cut, or kept open for ever. The log shows the status 0. */
export const noResponse: ServiceResponse = { status: 0 };

/** A body as it is sent. */
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
