/// <reference path="./undici-pool.d.ts" />

import type { Agent, Dispatcher, EnvHttpProxyAgent, Pool } from "undici";
import {
  ConversationError,
  type ConversationErrorCode,
  type ErrorDetails,
} from "../kernel/errors.js";
import { isObject } from "../kernel/json.js";
import { isLoopback } from "./addresses.js";

/** An HTTP method. `PATCH` occurs only in a tenant's other services (specification §8.3). */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** One HTTP call. */
export interface HttpRequest {
  /** HTTP method. */
  readonly method: Method;
  /** Absolute URL. */
  readonly url: string;
  /** All headers, including the token. */
  readonly headers: Readonly<Record<string, string>>;
  /** Body, if any. */
  readonly body?: string;
  /** Aborts the call, even if it is in progress. */
  readonly signal?: AbortSignal;
}

/** A response whose headers have all arrived. */
export interface HttpResponse {
  /** HTTP status. */
  readonly status: number;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The part of the body that arrived. */
  readonly text: string;
  /** Why the body is incomplete. Absent if it is complete. */
  readonly broken?: Error;
}

/**
 * The error for a call that received no response, not even headers. `cause` may quote network data,
 * so do not show it in messages.
 */
export class TransportFailure extends Error {
  override readonly name = "TransportFailure";

  constructor(
    /** False only if no byte of the request was written. */
    readonly sent: boolean,
    override readonly cause: unknown,
    /** What the proxy did. Absent if the proxy did not cause the failure. */
    readonly proxy?: string,
  ) {
    super("no response");
  }
}

/** Sends calls to the service and returns its responses, without retries, redirects, or tokens. */
export interface Transport {
  /**
   * Any status of 200 or higher counts as a response, even if the body is malformed. Without one, it
   * fails: here with a `TransportFailure`, and in a test with any error.
   */
  send(request: HttpRequest): Promise<HttpResponse>;
  /** Closes all connections; calls in progress fail. */
  close(): Promise<void>;
}

/** Calls `expire` once after `ms`, unless the returned function is called first. */
export type Timer = (ms: number, expire: () => void) => () => void;

export interface TransportOptions {
  /**
   * Maximum time for one call, including connecting and reading the body, in milliseconds. Default:
   * 60,000.
   */
  readonly callTimeoutMs?: number;
  /** Replaces the timer in tests. */
  readonly timer?: Timer;
  /** Where to look up HTTP_PROXY, HTTPS_PROXY, and NO_PROXY. Default: the process environment. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

const callTimeoutMs = 60_000;

/** A call in progress keeps the process alive through its socket, not through its deadline. */
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

/** Maximum number of connections to one origin, and therefore of calls in progress at once. */
export const mostConnections = 8;

/** A certificate is always checked, whatever NODE_TLS_REJECT_UNAUTHORIZED says. */
const verified = { rejectUnauthorized: true } as const;

/** Options for opening a connection to the service or to a signed URL. */
export const connecting = { timeout: 10_000, ...verified } as const;

/** Limits of a connection; the time of a whole call is limited elsewhere. */
const limits = {
  connections: mostConnections,
  pipelining: 1,
  allowH2: false,
  connect: connecting,
  headersTimeout: 60_000,
  bodyTimeout: 30_000,
  // A longer answer is refused: no collection or message of the service comes close to this size.
  maxResponseSize: 8 * 1024 * 1024,
} as const satisfies Pool.Options & Agent.Options;

/** Connections by origin. */
export interface Dispatchers {
  of(url: URL): Promise<Dispatcher>;
  close(): Promise<void>;
}

/** Dispatchers created on first use, one per key. */
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
      // A dispatcher that could not be created has nothing to close.
      for (const made of await Promise.allSettled(closing))
        if (made.status === "fulfilled") await made.value.destroy();
    },
  };
};

/**
 * Only the pool of the HTTP client: the whole client takes 90 ms to load, the pool 24 (measured).
 */
const connectionPool = async (): Promise<typeof Pool> => {
  try {
    return (await import("undici/lib/dispatcher/pool.js")).default;
  } catch {
    // Another release may have it elsewhere.
    return (await import("undici")).Pool;
  }
};

/**
 * One connection pool or, if a proxy is set, one proxy agent per origin. Calls to this machine
 * never go through a proxy. Idle connections do not keep the process alive.
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

/** The state of an answer while it arrives. */
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

  /** The answer so far; throws if there is none. */
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
 * Uses the dispatcher directly instead of its `request` method: only this shows whether the request
 * was written at all, and keeps the part of a broken answer that may contain an ID.
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
        // Given up while it waited for a connection: it must not be written anymore.
        if (over) stop(over);
        else arrival.sent = true;
      },
      onResponseStart: (_controller, status, headers) => {
        // 1xx announces that an answer may follow (RFC 9110 §15.2), and is not one itself.
        if (status >= 200) arrival.head(status, headers);
      },
      onResponseData: (_controller, chunk) => arrival.add(chunk),
      onResponseEnd: () => end(),
      onResponseError: (_controller, error) => end(error),
    });
  });

/** Where HTTP_PROXY, HTTPS_PROXY, and NO_PROXY are looked up. */
type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Proxy settings as other tools read them, the lower-case name first; undefined if there are none.
 */
const proxyOf = (environment: ProxyEnvironment) => {
  const variable = (name: string) => environment[name.toLowerCase()] || environment[name];
  const httpProxy = variable("HTTP_PROXY");
  const httpsProxy = variable("HTTPS_PROXY");
  if (!httpProxy && !httpsProxy) return undefined;
  // Empty texts are deliberate: without them, the agent would read the process's own environment.
  return {
    httpProxy: httpProxy ?? "",
    httpsProxy: httpsProxy ?? "",
    noProxy: variable("NO_PROXY") ?? "",
  };
};

/** The address may contain a password: neither it nor the parser's message is shown. */
const unusable = (): ConversationError =>
  new ConversationError(
    "SETTINGS_INVALID",
    "Could not use the proxy: HTTP_PROXY or HTTPS_PROXY is not a proxy URL such as http://proxy.example.com:3128. Nothing was sent. Correct the variable, or remove it.",
    { permanent: true },
  );

/**
 * Connections through the proxy that the options or, by default, the process environment specify.
 *
 * @throws ConversationError `SETTINGS_INVALID` for an invalid URL
 */
export const proxyAgent = async (options: EnvHttpProxyAgent.Options): Promise<Dispatcher> => {
  const { EnvHttpProxyAgent: ProxyAgent } = await import("undici");
  try {
    return new ProxyAgent({ ...options, requestTls: verified, proxyTls: verified });
  } catch {
    throw unusable();
  }
};

/** The variables that may name a proxy, as other tools read them: the lower-case name first. */
const variablesFor = (protocol: string): readonly string[] => {
  const http = ["http_proxy", "HTTP_PROXY"];
  return protocol === "http:" ? http : ["https_proxy", "HTTPS_PROXY", ...http];
};

/**
 * The proxy for a protocol, and the variable that contains it; undefined if none is set. Ignores
 * NO_PROXY.
 */
export const proxySetting = (environment: ProxyEnvironment, protocol = "https:") => {
  const variable = variablesFor(protocol).find((name) => environment[name]);
  return variable === undefined ? undefined : { variable, text: environment[variable] ?? "" };
};

/** A failure and its causes; failures of several addresses of one host form a group. */
const chainOf = (error: unknown, depth = 0): readonly unknown[] => {
  if (depth > 4 || typeof error !== "object" || error === null) return [];
  const inner = error instanceof AggregateError ? error.errors : [];
  const cause = "cause" in error ? [error.cause] : [];
  return [error, ...[...inner, ...cause].flatMap((each) => chainOf(each, depth + 1))];
};

const portOf = ({ port, protocol }: URL): number =>
  Number(port) || (protocol === "https:" ? 443 : 80);

/** Whether one connection failure is about this address: Node's HTTP client names host or port. */
const isAbout = (failure: unknown, proxy: URL, target: URL): boolean => {
  const { hostname, port, message } = isObject(failure) ? failure : {};
  const text = failure instanceof Error ? failure.message : String(message ?? "");
  return (
    (hostname === proxy.hostname && proxy.hostname !== target.hostname) ||
    (port === portOf(proxy) && portOf(proxy) !== portOf(target)) ||
    text.includes(`${proxy.hostname}:${portOf(proxy)}`)
  );
};

const refusedTunnel = /Proxy response \((\d{3})\)/;

/** The proxy's role in a failed call; undefined if the proxy did not cause the failure. */
export const proxyFailure = (
  error: unknown,
  target: URL,
  environment: ProxyEnvironment,
): string | undefined => {
  const setting = proxySetting(environment, target.protocol);
  if (!setting || !URL.canParse(setting.text) || isLoopback(target.hostname)) return undefined;
  const proxy = new URL(setting.text);
  const shown = `the proxy ${proxy.host} (${setting.variable})`;
  const chain = chainOf(error);
  const texts = chain.map((each) => (each instanceof Error ? each.message : ""));
  const status = texts.map((text) => refusedTunnel.exec(text)?.[1]).find(Boolean);
  if (status) return `${shown} refused to connect to ${target.host} (${status})`;
  const failure = chain.find((each) => isAbout(each, proxy, target));
  if (failure === undefined) return undefined;
  const code = isObject(failure) && typeof failure.code === "string" ? ` (${failure.code})` : "";
  return `${shown} cannot be reached${code}, so nothing was sent to ${target.host}`;
};

/** Advice for a proxy failure. */
export const proxyAdvice =
  "start the proxy or correct its URL; if the service can be reached directly, add its host to NO_PROXY";

/** The code and explanation of a connection failure. */
export interface ConnectionFault {
  readonly code: ConversationErrorCode;
  /** What happened and what to check. Quotes no network data. */
  readonly text: string;
  readonly details: Pick<ErrorDetails, "permanent">;
}

const tlsCode =
  /^(ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH$|UND_ERR_PRX_TLS$)/;

/** The server does not speak TLS: most often it speaks plain HTTP. */
const withoutTls = /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/;

const timeouts: readonly string[] = ["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"];

/** The first code in the chain of causes; none if there is none. */
const codeOf = (cause: unknown): string =>
  chainOf(cause)
    .map((each) => (isObject(each) && typeof each.code === "string" ? each.code : ""))
    // Anything else would be a foreign text, which must not appear in a message.
    .find((code) => /^[A-Z][A-Z0-9_]{1,63}$/.test(code)) ?? "";

const passing = (code: ConversationErrorCode, text: string): ConnectionFault => ({
  code,
  text,
  details: {},
});

const lasting = (code: ConversationErrorCode, text: string): ConnectionFault => ({
  code,
  text,
  details: { permanent: true },
});

const beforeSending = (code: string, host: string): ConnectionFault => {
  const isUnknown = code === "ENOTFOUND" || code === "EAI_AGAIN";
  const what = isUnknown ? `the name ${host} could not be resolved` : `no connection to ${host}`;
  const suffix = code === "" ? "" : ` (${code})`;
  return passing("UNREACHABLE", `${what}${suffix}; check the URL, the network, and the proxy`);
};

/** Maps a connection failure to one of a fixed set of codes, with an explanation. */
export const connectionFault = (
  { cause, sent, proxy }: Pick<TransportFailure, "cause" | "sent" | "proxy">,
  url: string,
): ConnectionFault => {
  if (proxy !== undefined) return passing("UNREACHABLE", `${proxy}; ${proxyAdvice}`);
  const { host } = new URL(url);
  const code = codeOf(cause);
  if (withoutTls.test(code)) {
    return lasting(
      "UNREACHABLE",
      `no TLS connection to ${host} (${code}): the server does not use TLS; check the URL's port, and whether the URL must start with http://`,
    );
  }
  if (tlsCode.test(code)) {
    return lasting(
      "UNREACHABLE",
      `the TLS connection to ${host} could not be trusted (${code}); check the URL and the certificate, or set NODE_EXTRA_CA_CERTS to your certificate authority's file`,
    );
  }
  if (code === "UND_ERR_RES_EXCEEDED_MAX_SIZE") {
    return lasting("BAD_RESPONSE", `the response from ${host} is larger than 8 MiB; check the URL`);
  }
  const isTimeout = cause instanceof Error && cause.name === "TimeoutError";
  if (isTimeout || timeouts.includes(code)) {
    return passing("TIMED_OUT", `${host} did not send a complete response within the allowed time`);
  }
  if (!sent) return beforeSending(code, host);
  return passing(
    "UNREACHABLE",
    `the connection to ${host} broke before the response was complete${code === "" ? "" : ` (${code})`}`,
  );
};
