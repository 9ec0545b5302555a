import { type ClientRequest, type IncomingMessage, Agent as PlainAgent, request } from "node:http";
import { Agent as TlsAgent, request as tlsRequest } from "node:https";

/** The caller went away while it waited for its turn. */
const gone = new Error("The call was given up.");

interface Waiting {
  /** Whoever asked earlier has a lower one. */
  readonly turn: number;
  readonly start: () => void;
}

/** The calls of one group, in the order of asking. */
interface Group {
  running: number;
  readonly waiting: Set<Waiting>;
}

/**
 * Lets so many calls run at once, and so many of them in one group: a callback that is slow keeps no
 * other from its messages, and many conversations at once open no more sockets than a process may have.
 */
export class CallSlots {
  readonly #groups = new Map<string, Group>();
  #running = 0;
  #turns = 0;

  /**
   * @param most calls at once
   * @param mostInGroup of them in one group
   */
  constructor(
    private readonly most: number,
    private readonly mostInGroup: number,
  ) {}

  /**
   * Waits for a turn, in the order of asking as far as the groups allow.
   *
   * @returns gives the turn back; more than once does nothing more
   * @throws Error if the signal ends the wait
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

  /** A group without calls is forgotten. */
  #tidy(name: string, { running, waiting }: Group): void {
    if (running === 0 && waiting.size === 0) this.#groups.delete(name);
  }

  /** Whoever asked first, of the groups that have room: looks at the first of each only. */
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
    response.on("close", () => reject(new NoAnswer("the answer breaks off")));
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
    let hasAnswer = false;
    outgoing.on("close", () => {
      if (!hasAnswer) reject(new NoAnswer("the connection was closed without an answer"));
    });
    /** What follows a 101 is no HTTP, so no answer can come any more. */
    const switched = (): void => {
      reject(new NoAnswer("the address wanted to switch to another protocol (101)"));
      outgoing.destroy();
    };
    outgoing.on("upgrade", (_response, socket) => {
      socket.destroy();
      switched();
    });
    outgoing.on("response", (response) => {
      const status = response.statusCode ?? 0;
      // The other 1xx are left out by Node itself.
      if (status < 200) return switched();
      hasAnswer = true;
      if (wantsBody) bodyOf(response).then((text) => resolve({ status, body: text }), reject);
      else {
        drop(response);
        resolve({ status, body: "" });
      }
    });
    outgoing.end(body);
  });

/** Well below the files that a process may have open everywhere (256), or usually (1,024). */
const mostCalls = 160;
const mostCallsToOneHost = 80;

/** Connections are kept for the next call, but not for long, nor many of them. */
const connections = {
  keepAlive: true,
  scheduling: "lifo",
  maxFreeSockets: 20,
  timeout: 10_000,
} as const;

/** Calls addresses outside, http and https only. */
export class Outgoing {
  readonly #slots = new CallSlots(mostCalls, mostCallsToOneHost);
  readonly #agents = {
    "http:": new PlainAgent(connections),
    "https:": new TlsAgent(connections),
  };

  /** @param route where a call to an address really goes */
  constructor(private readonly route: (address: string) => string = (address) => address) {}

  /** @throws NoAnswer that says why */
  async call(call: OutgoingCall): Promise<OutgoingAnswer> {
    const address = this.#addressOf(call);
    const release = await this.#slots.take(address.host, call.signal);
    let isLate = false;
    try {
      const outgoing = this.#request(address, call);
      // The socket is free, or gone, when the request is closed.
      outgoing.on("close", release);
      const timer = setTimeout(() => {
        isLate = true;
        outgoing.destroy();
      }, call.deadlineMs).unref();
      outgoing.on("close", () => clearTimeout(timer));
      return await answerOf(outgoing, call);
    } catch (error) {
      release();
      throw new NoAnswer(isLate ? `no answer within ${call.deadlineMs} ms` : reasonOf(error));
    }
  }

  /** Ends all connections. */
  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  #addressOf({ url }: OutgoingCall): URL {
    if (!URL.canParse(url)) throw new NoAnswer("the address is not valid");
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
        throw new NoAnswer("the address must begin with http or https");
    }
  }
}
