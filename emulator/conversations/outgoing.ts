import { type ClientRequest, type IncomingMessage, Agent as PlainAgent, request } from "node:http";
import { Agent as TlsAgent, request as tlsRequest } from "node:https";
import { discard } from "../http/exchange.js";

/** A call to an external URL. */
export interface OutgoingCall {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Deadline for the response, in milliseconds of real time. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  /** Whether to read the body of the response, up to 64 KiB; if omitted, the body is discarded. */
  readonly wantsBody?: boolean;
}

/**
 * The response to an outgoing call. A redirect is a response like any other and is never followed.
 */
export interface OutgoingAnswer {
  readonly status: number;
  readonly body: string;
}

/** The error that explains, without secrets, why there was no usable response. */
export class NoAnswer extends Error {}

/** The error for a response that cannot be used. */
export class UnusableAnswer extends NoAnswer {}

/** The error for a call that received no response within the deadline. */
export class NoAnswerInTime extends NoAnswer {
  constructor({ deadlineMs }: Pick<OutgoingCall, "deadlineMs">) {
    super(`no response within ${deadlineMs} ms`);
  }
}

const mostBytes = 64 * 1024;

const readText = async (response: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > mostBytes) throw new UnusableAnswer("the response is larger than 64 KiB");
    }
  } catch (error) {
    throw error instanceof NoAnswer ? error : new UnusableAnswer("the response is incomplete");
  }
  return Buffer.concat(chunks).toString("utf8");
};

const failureText = (error: unknown): string => {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "the call failed";
};

const receiveAnswer = (outgoing: ClientRequest, { body, wantsBody }: OutgoingCall) =>
  new Promise<OutgoingAnswer>((resolve, reject) => {
    outgoing.on("error", reject);
    let hasAnswer = false;
    outgoing.on("close", () => {
      if (!hasAnswer) reject(new NoAnswer("the connection was closed without a response"));
    });
    /** After a 101 the protocol is no longer HTTP, so no answer can come. */
    const refuseSwitch = (): void => {
      reject(new NoAnswer("the server tried to switch to another protocol (101)"));
      outgoing.destroy();
    };
    outgoing.on("upgrade", (_response, socket) => {
      socket.destroy();
      refuseSwitch();
    });
    outgoing.on("response", (response) => {
      const status = response.statusCode ?? 0;
      // Node itself skips the other 1xx.
      if (status < 200) return refuseSwitch();
      hasAnswer = true;
      if (wantsBody) readText(response).then((text) => resolve({ status, body: text }), reject);
      else {
        response.on("error", () => undefined);
        // An endless body must not hold the connection forever.
        discard(response, mostBytes);
        resolve({ status, body: "" });
      }
    });
    outgoing.end(body);
  });

/**
 * Connections to one host: a slow callback does not hold up others, and many concurrent
 * conversations do not exhaust the process's sockets. They are kept for the next call, but only a
 * few, and not for long.
 */
const connections = {
  maxSockets: 80,
  keepAlive: true,
  scheduling: "lifo",
  maxFreeSockets: 20,
  timeout: 10_000,
} as const;

/** Calls external http and https URLs. */
export class Outgoing {
  readonly #plain = new PlainAgent(connections);
  readonly #tls = new TlsAgent(connections);

  /** @param route the actual destination of a call */
  constructor(private readonly route: (address: string) => string = (address) => address) {}

  /** @throws NoAnswer that explains why */
  async call(call: OutgoingCall): Promise<OutgoingAnswer> {
    let isLate = false;
    try {
      const outgoing = this.#request(call);
      // The callback's time begins when the call has a connection.
      outgoing.on("socket", () => {
        const timer = setTimeout(() => {
          isLate = true;
          outgoing.destroy();
        }, call.deadlineMs).unref();
        outgoing.on("close", () => clearTimeout(timer));
      });
      return await receiveAnswer(outgoing, call);
    } catch (error) {
      if (isLate) throw new NoAnswerInTime(call);
      throw error instanceof NoAnswer ? error : new NoAnswer(failureText(error));
    }
  }

  /** Closes all connections. */
  close(): void {
    this.#plain.destroy();
    this.#tls.destroy();
  }

  #request({ url, method, headers, body, signal }: OutgoingCall): ClientRequest {
    if (!URL.canParse(url)) throw new NoAnswer("the URL is not valid");
    const address = new URL(this.route(url));
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const options = { method, headers: { ...headers, ...length }, signal };
    switch (address.protocol) {
      case "http:":
        return request(address, { ...options, agent: this.#plain });
      case "https:":
        return tlsRequest(address, { ...options, agent: this.#tls });
      default:
        throw new NoAnswer("the URL must start with http:// or https://");
    }
  }
}
