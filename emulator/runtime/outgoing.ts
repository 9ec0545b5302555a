import { type ClientRequest, type IncomingMessage, Agent as PlainAgent, request } from "node:http";
import { Agent as TlsAgent, request as tlsRequest } from "node:https";
import { discard } from "../http/exchange.js";

/** The caller left while it waited for its turn. */
const gone = new Error("The call was canceled.");

interface Waiting {
  /** Earlier requests have lower ones. */
  readonly turn: number;
  readonly start: () => void;
}

/** The calls of one group, in the order of asking. */
interface Group {
  running: number;
  readonly waiting: Set<Waiting>;
}

/**
 * Limits concurrent calls, in total and per group. A slow callback does not hold up others, and
 * many concurrent conversations do not exhaust the process's sockets.
 */
export class CallSlots {
  readonly #groups = new Map<string, Group>();
  #running = 0;
  #turns = 0;

  /**
   * @param most concurrent calls
   * @param mostInGroup concurrent calls in one group
   */
  constructor(
    private readonly most: number,
    private readonly mostInGroup: number,
  ) {}

  /**
   * Waits for a turn, in order of arrival and within the limits of the groups.
   *
   * @returns a function that releases the turn; further calls do nothing
   * @throws Error if the signal aborts the wait
   */
  take(name: string, signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(gone);
      const group = this.#groups.get(name) ?? { running: 0, waiting: new Set() };
      this.#groups.set(name, group);
      const giveUp = () => {
        group.waiting.delete(waiting);
        this.#tidy(name, group);
        reject(gone);
      };
      const start = () => {
        signal.removeEventListener("abort", giveUp);
        resolve(this.#taken(name, group));
      };
      this.#turns += 1;
      const waiting = { turn: this.#turns, start };
      if (this.#hasRoom(group)) return start();
      signal.addEventListener("abort", giveUp, { once: true });
      group.waiting.add(waiting);
    });
  }

  #hasRoom({ running }: Group): boolean {
    return this.#running < this.most && running < this.mostInGroup;
  }

  #taken(name: string, group: Group): () => void {
    this.#running += 1;
    group.running += 1;
    let isGivenBack = false;
    return () => {
      if (isGivenBack) return;
      isGivenBack = true;
      this.#running -= 1;
      group.running -= 1;
      this.#startNext();
      this.#tidy(name, group);
    };
  }

  /** Removes a group that has no calls. */
  #tidy(name: string, { running, waiting }: Group): void {
    if (running === 0 && waiting.size === 0) this.#groups.delete(name);
  }

  /**
   * Starts the earliest request from the groups with capacity. Only the first request in each group
   * is a candidate.
   */
  #startNext(): void {
    let first: { readonly group: Group; readonly waiting: Waiting } | undefined;
    for (const group of this.#groups.values()) {
      const [waiting] = this.#hasRoom(group) ? group.waiting : [];
      if (waiting && waiting.turn < (first?.waiting.turn ?? Number.POSITIVE_INFINITY))
        first = { group, waiting };
    }
    if (!first) return;
    first.group.waiting.delete(first.waiting);
    first.waiting.start();
  }
}

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

const bodyOf = (response: IncomingMessage): Promise<string> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > mostBytes) reject(new UnusableAnswer("the response is larger than 64 KiB"));
      else chunks.push(chunk);
    });
    response.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
    response.on("error", reject);
    response.on("close", () => reject(new UnusableAnswer("the response is incomplete")));
  });

const reasonOf = (error: unknown): string => {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "the call failed";
};

const answerOf = (outgoing: ClientRequest, { body, wantsBody }: OutgoingCall) =>
  new Promise<OutgoingAnswer>((resolve, reject) => {
    outgoing.on("error", reject);
    let hasAnswer = false;
    outgoing.on("close", () => {
      if (!hasAnswer) reject(new NoAnswer("the connection was closed without a response"));
    });
    /** After a 101 the protocol is no longer HTTP, so no answer can come. */
    const switched = (): void => {
      reject(new NoAnswer("the server tried to switch to another protocol (101)"));
      outgoing.destroy();
    };
    outgoing.on("upgrade", (_response, socket) => {
      socket.destroy();
      switched();
    });
    outgoing.on("response", (response) => {
      const status = response.statusCode ?? 0;
      // Node itself skips the other 1xx.
      if (status < 200) return switched();
      hasAnswer = true;
      if (wantsBody) bodyOf(response).then((text) => resolve({ status, body: text }), reject);
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
 * Well below the number of files that a process may open on every system (256), or usually (1,024).
 */
const mostCalls = 160;
const mostCallsToOneHost = 80;

/** Connections are kept for the next call, but only a few, and not for long. */
const connections = {
  keepAlive: true,
  scheduling: "lifo",
  maxFreeSockets: 20,
  timeout: 10_000,
} as const;

/** Calls external http and https URLs. */
export class Outgoing {
  readonly #slots = new CallSlots(mostCalls, mostCallsToOneHost);
  readonly #agents = {
    "http:": new PlainAgent(connections),
    "https:": new TlsAgent(connections),
  };

  /** @param route the actual destination of a call */
  constructor(private readonly route: (address: string) => string = (address) => address) {}

  /** @throws NoAnswer that explains why */
  async call(call: OutgoingCall): Promise<OutgoingAnswer> {
    const address = this.#addressOf(call);
    const release = await this.#slots.take(address.host, call.signal);
    let isLate = false;
    try {
      const outgoing = this.#request(address, call);
      // When the request is closed, the socket is free or gone.
      outgoing.on("close", release);
      const timer = setTimeout(() => {
        isLate = true;
        outgoing.destroy();
      }, call.deadlineMs).unref();
      outgoing.on("close", () => clearTimeout(timer));
      return await answerOf(outgoing, call);
    } catch (error) {
      release();
      if (isLate) throw new NoAnswerInTime(call);
      throw error instanceof NoAnswer ? error : new NoAnswer(reasonOf(error));
    }
  }

  /** Closes all connections. */
  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  #addressOf({ url }: OutgoingCall): URL {
    if (!URL.canParse(url)) throw new NoAnswer("the URL is not valid");
    return new URL(this.route(url));
  }

  #request(address: URL, { method, headers, body, signal }: OutgoingCall): ClientRequest {
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const options = { method, headers: { ...headers, ...length }, signal };
    switch (address.protocol) {
      case "http:":
        return request(address, { ...options, agent: this.#agents["http:"] });
      case "https:":
        return tlsRequest(address, { ...options, agent: this.#agents["https:"] });
      default:
        throw new NoAnswer("the URL must start with http:// or https://");
    }
  }
}
