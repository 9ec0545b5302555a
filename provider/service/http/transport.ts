/// <reference path="./undici-pool.d.ts" />
import type { Agent, Dispatcher, Pool } from "undici";
import { isLoopback } from "../settings/setting-rules.js";
import type { Method } from "./operations.js";
import { type ProxyEnvironment, proxyAgent, proxyOf } from "./proxy-agent.js";
import { proxyFailure } from "./proxy-failure.js";

/** One HTTP call, complete with its headers. */
export interface HttpRequest {
  readonly method: Method;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Aborts the call, even when it is under way. */
  readonly signal?: AbortSignal;
}

/** An answer whose head, at least, arrived in full. */
export interface HttpResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** What arrived of the body. */
  readonly text: string;
  /** Why the body is not complete. Left out: it is. */
  readonly broken?: Error;
}

/** No answer, not even its head. `cause` may quote what came over the wire: it is not for messages. */
export class TransportFailure extends Error {
  override readonly name = "TransportFailure";

  constructor(
    /** False: not one byte of the request was written. */
    readonly sent: boolean,
    override readonly cause: unknown,
    /** What the proxy did that the call went through. Left out: the failure is not the proxy's. */
    readonly proxy?: string,
  ) {
    super("no answer");
  }
}

/** Carries calls to the service and answers back: no retries, no redirects, no tokens. */
export interface Transport {
  /** Any status from 200 on is an answer, even with a broken body; all else is a {@link TransportFailure}. */
  send(request: HttpRequest): Promise<HttpResponse>;
  /** Ends all connections; calls under way fail. */
  close(): Promise<void>;
}

/** Calls `expire` once after `ms`, unless the function it gives back was called before. */
export type Timer = (ms: number, expire: () => void) => () => void;

export interface TransportOptions {
  /** Longest time of one call, connection and body included, in milliseconds. Default: 60 000. */
  readonly callTimeoutMs?: number;
  /** Tests pass their own. */
  readonly timer?: Timer;
  /** Where HTTP_PROXY, HTTPS_PROXY and NO_PROXY are looked up. Default: the process's environment. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

const callTimeoutMs = 60_000;

/** A call under way keeps the process alive by its socket, not by its deadline. */
const systemTimer: Timer = (ms, expire) => {
  const handle = setTimeout(expire, ms).unref();
  return () => clearTimeout(handle);
};

/** The transport over sockets. Loads the HTTP client and opens connections on the first call. */
export const httpTransport = (options: TransportOptions = {}): Transport => {
  const { environment = process.env } = options;
  const pools = dispatchers(environment);
  const timer = options.timer ?? systemTimer;
  const limit = (expire: () => void) => timer(options.callTimeoutMs ?? callTimeoutMs, expire);
  return {
    send: async (request) => {
      const url = new URL(request.url);
      const pool = await pools.of(url);
      try {
        return await exchange(pool, dispatchOptions(request, url), request.signal, limit);
      } catch (failure) {
        if (!(failure instanceof TransportFailure)) throw failure;
        const { sent, cause } = failure;
        throw new TransportFailure(sent, cause, proxyFailure(cause, url, environment));
      }
    },
    close: () => pools.close(),
  };
};

const dispatchOptions = (request: HttpRequest, url: URL): Dispatcher.DispatchOptions => ({
  origin: url.origin,
  path: url.pathname + url.search,
  method: request.method,
  headers: { ...request.headers },
  ...(request.body === undefined ? {} : { body: request.body }),
});

/** Connections to one origin, at most: so many calls are under way together. */
export const mostConnections = 8;

/** Limits of a connection; the time for a whole call is bounded elsewhere. */
const limits = {
  connections: mostConnections,
  pipelining: 1,
  allowH2: false,
  connect: { timeout: 10_000 },
  headersTimeout: 60_000,
  bodyTimeout: 30_000,
  // A longer answer is refused: no collection or message of the service is near this size.
  maxResponseSize: 8 * 1024 * 1024,
} as const satisfies Pool.Options & Agent.Options;

/** Connections by origin. */
export interface Dispatchers {
  of(url: URL): Promise<Dispatcher>;
  close(): Promise<void>;
}

/** Dispatchers that are made on first use, one for each key. */
export const dispatchersBy = (
  keyOf: (url: URL) => string,
  make: (url: URL) => Promise<Dispatcher>,
): Dispatchers => {
  const open = new Map<string, Promise<Dispatcher>>();
  return {
    of: (url) => {
      const known = open.get(keyOf(url)) ?? make(url);
      open.set(keyOf(url), known);
      return known;
    },
    close: async () => {
      const closing = [...open.values()];
      open.clear();
      // One that could not be made has nothing to close.
      for (const made of await Promise.allSettled(closing))
        if (made.status === "fulfilled") await made.value.destroy();
    },
  };
};

/** Of the HTTP client the pool alone: all of it takes 90 ms to load, this 24 (measured). */
const connectionPool = async (): Promise<typeof Pool> => {
  try {
    return (await import("undici/lib/dispatcher/pool.js")).default;
  } catch {
    // Another release may keep it elsewhere.
    return (await import("undici")).Pool;
  }
};

/**
 * One pool of connections per origin, or one agent for all where a proxy is set. This machine is
 * never reached through a proxy. Idle connections do not keep the process alive.
 */
export const dispatchers = (environment: ProxyEnvironment): Dispatchers => {
  const proxy = proxyOf(environment);
  return dispatchersBy(
    ({ origin }) => origin,
    async (url) => {
      if (proxy && !isLoopback(url.hostname)) return proxyAgent({ ...limits, ...proxy });
      const ConnectionPool = await connectionPool();
      return new ConnectionPool(url.origin, limits);
    },
  );
};

/** What is known of an answer while it arrives. */
class Arrival {
  sent = false;
  #status: number | undefined;
  #headers: HttpResponse["headers"] = {};
  readonly #chunks: Buffer[] = [];

  head(status: number, headers: HttpResponse["headers"]): void {
    this.#status = status;
    this.#headers = headers;
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  /** The answer so far; throws where there is none. */
  answer(broken?: Error): HttpResponse {
    if (this.#status === undefined) throw new TransportFailure(this.sent, broken);
    return {
      status: this.#status,
      headers: this.#headers,
      text: Buffer.concat(this.#chunks).toString("utf8"),
      ...(broken === undefined ? {} : { broken }),
    };
  }
}

const errorOf = (cause: unknown): Error => (cause instanceof Error ? cause : new Error("aborted"));

/**
 * Drives the dispatcher itself instead of its `request` method: only so can one see whether the
 * request was written at all, and keep the part of a broken answer that may hold an id.
 */
const exchange = (
  pool: Dispatcher,
  options: Dispatcher.DispatchOptions,
  signal: AbortSignal | undefined,
  limit: (expire: () => void) => () => void,
): Promise<HttpResponse> =>
  new Promise((resolve, reject) => {
    const arrival = new Arrival();
    let over: Error | undefined;
    let stop: ((reason: Error) => void) | undefined;
    const end = (broken?: Error): void => {
      cancelLimit();
      signal?.removeEventListener("abort", abort);
      try {
        resolve(arrival.answer(broken));
      } catch (failure) {
        reject(failure);
      }
    };
    const giveUp = (reason: Error): void => {
      over ??= reason;
      end(over);
      stop?.(over);
    };
    const abort = (): void => giveUp(errorOf(signal?.reason));
    const cancelLimit = limit(() => giveUp(new DOMException("too slow", "TimeoutError")));
    if (signal?.aborted) return abort();
    signal?.addEventListener("abort", abort, { once: true });
    pool.dispatch(options, {
      onRequestStart: (controller) => {
        stop = (reason) => controller.abort(reason);
        // Given up while it waited for a connection: it must not be written any more.
        if (over) stop(over);
        else arrival.sent = true;
      },
      onResponseStart: (_controller, status, headers) => {
        // 1xx says that an answer may follow (RFC 9110 §15.2), and is none itself.
        if (status >= 200) arrival.head(status, headers);
      },
      onResponseData: (_controller, chunk) => arrival.add(chunk),
      onResponseEnd: () => end(),
      onResponseError: (_controller, error) => end(error),
    });
  });
