import { type ClientRequest, type IncomingMessage, Agent as PlainAgent, request } from "node:http";
import { Agent as TlsAgent, request as tlsRequest } from "node:https";

/** A call to an address outside. */
export interface OutgoingCall {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Milliseconds, of real time, until the answer must be there. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  /** Read the body of the answer, up to 64 KiB; left out: it is let through and dropped. */
  readonly wantsBody?: boolean;
}

/** What the address answered. A redirect is an answer like any other: it is never followed. */
export interface OutgoingAnswer {
  readonly status: number;
  readonly body: string;
}

/** Why there was no answer, in words without a secret. */
export class NoAnswer extends Error {}

const mostBytes = 64 * 1024;

const bodyOf = (response: IncomingMessage): Promise<string> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > mostBytes) reject(new NoAnswer("the answer is larger than 64 KiB"));
      else chunks.push(chunk);
    });
    response.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
    response.on("error", reject);
  });

/** An endless body must not hold the connection for ever. */
const drop = (response: IncomingMessage): void => {
  let bytes = 0;
  response.on("error", () => undefined);
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > mostBytes) response.destroy();
  });
};

const reasonOf = (error: unknown): string => {
  if (error instanceof NoAnswer) return error.message;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "the call failed";
};

const answerOf = (outgoing: ClientRequest, { body, wantsBody }: OutgoingCall) =>
  new Promise<OutgoingAnswer>((resolve, reject) => {
    outgoing.on("error", reject);
    outgoing.on("response", (response) => {
      const status = response.statusCode ?? 0;
      if (wantsBody) bodyOf(response).then((text) => resolve({ status, body: text }), reject);
      else {
        drop(response);
        resolve({ status, body: "" });
      }
    });
    outgoing.end(body);
  });

/** Calls addresses outside, http and https only. */
export class Outgoing {
  readonly #agents = {
    "http:": new PlainAgent({ keepAlive: true, scheduling: "lifo" }),
    "https:": new TlsAgent({ keepAlive: true, scheduling: "lifo" }),
  };

  /** @param route where a call to an address really goes */
  constructor(private readonly route: (address: string) => string = (address) => address) {}

  /** @throws NoAnswer that says why */
  async call(call: OutgoingCall): Promise<OutgoingAnswer> {
    let isLate = false;
    try {
      const outgoing = this.#request(call);
      const timer = setTimeout(() => {
        isLate = true;
        outgoing.destroy();
      }, call.deadlineMs).unref();
      outgoing.on("close", () => clearTimeout(timer));
      return await answerOf(outgoing, call);
    } catch (error) {
      throw new NoAnswer(isLate ? `no answer within ${call.deadlineMs} ms` : reasonOf(error));
    }
  }

  /** Ends all connections. */
  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  #request({ url, method, headers, body, signal }: OutgoingCall): ClientRequest {
    if (!URL.canParse(url)) throw new NoAnswer("the address is not valid");
    const address = new URL(this.route(url));
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const options = { method, headers: { ...headers, ...length }, signal };
    switch (address.protocol) {
      case "http:":
        return request(address, { ...options, agent: this.#agents["http:"] });
      case "https:":
        return tlsRequest(address, { ...options, agent: this.#agents["https:"] });
      default:
        throw new NoAnswer("the address must begin with http or https");
    }
  }
}
