/// <reference path="./undici-parts.d.ts" />

import type { Agent, Dispatcher, EnvHttpProxyAgent } from "undici";
import type { Clock } from "../kernel/clock.js";
import {
  ConversationError,
  type ConversationErrorCode,
  type ErrorDetails,
} from "../kernel/errors.js";
import { isObject } from "../kernel/json.js";
import { isLoopback, loopbackHosts } from "./addresses.js";

/** An HTTP method. `PATCH` occurs only in a tenant's other services (specification §8.3). */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The identity of a rate bucket: method and path template (specification §8.1 rule 1). */
export interface Endpoint {
  readonly method: Method;
  /** Path relative to the base URL, such as `/channels/{id}`. */
  readonly template: string;
}

/** The name of an endpoint in messages and statistics, such as `GET /channels/{id}`. */
export const endpointName = ({ method, template }: Endpoint): string => `${method} ${template}`;

export interface HttpRequest {
  readonly method: Method;
  /** Absolute URL. */
  readonly url: string;
  /** All headers, including the token. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Aborts the call, even if it is in progress. */
  readonly signal?: AbortSignal;
}

/** A response whose headers have all arrived. */
export interface HttpResponse {
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
    /** The proxy that the call may have used, such as `proxy.example:3128 (HTTPS_PROXY)`. */
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

/** An attempt of a call. All attempts of one call have the same object in `call`. */
export interface Attempt {
  readonly call: Endpoint;
  /** From 1. */
  readonly attempt: number;
}

/** What happens to a call. Reported in the asynchronous context of the caller. */
export type CallEvent =
  | (Attempt & { readonly type: "sending" })
  | (Attempt & { readonly type: "ended"; readonly status: number | undefined })
  /** Before the first repeat, with the first failure. */
  | { readonly type: "repeating"; readonly call: Endpoint; readonly error: unknown };

/**
 * Makes one attempt of a call, and reports it before it is sent and when it has ended.
 *
 * @param onEvent must not fail
 */
export const observeAttempt = async <T extends { readonly status: number }>(
  onEvent: (event: CallEvent) => void,
  attempt: Attempt,
  send: () => Promise<T>,
): Promise<T> => {
  let status: number | undefined;
  onEvent({ type: "sending", ...attempt });
  try {
    const response = await send();
    ({ status } = response);
    return response;
  } finally {
    onEvent({ type: "ended", ...attempt, status });
  }
};

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

/** A call in progress keeps the process alive through its socket, not through its deadline. */
const systemTimer: Timer = (ms, expire) => {
  const handle = setTimeout(expire, ms).unref();
  return () => clearTimeout(handle);
};

/** The transport over sockets. Loads the HTTP client and opens connections on the first call. */
export const httpTransport = ({
  environment = process.env,
  timer = systemTimer,
  callTimeoutMs = 60_000,
}: TransportOptions = {}): Transport => {
  let opened: Promise<Dispatcher> | undefined;
  return {
    send: async (request) => {
      const url = new URL(request.url);
      opened ??= openDispatcher(environment, limits);
      const dispatcher = await opened;
      try {
        return await exchange(dispatcher, request, url, (expire) => timer(callTimeoutMs, expire));
      } catch (failure) {
        if (!(failure instanceof TransportFailure)) throw failure;
        throw new TransportFailure(failure.sent, failure.cause, proxyOf(url, environment));
      }
    },
    close: async () => {
      // One that could not be opened has nothing to close.
      const dispatcher = await opened?.catch(() => undefined);
      opened = undefined;
      await dispatcher?.destroy();
    },
  };
};

/** A certificate is always checked, whatever NODE_TLS_REJECT_UNAUTHORIZED says. */
const verified = { rejectUnauthorized: true } as const;

/** Limits of the connections to one origin; the time of a whole call is limited elsewhere. */
const limits = {
  connections: 8,
  headersTimeout: 60_000,
  bodyTimeout: 30_000,
  // A longer answer is refused. A page of 75 channels can have icons of 38,400,000 bytes (vendor).
  maxResponseSize: 40 * 1024 * 1024,
} as const satisfies EnvHttpProxyAgent.Options;

/**
 * Connections to any origin, through the proxy that HTTP_PROXY, HTTPS_PROXY, and NO_PROXY specify.
 * Calls to this machine never go through a proxy. Idle connections do not keep the process alive.
 *
 * @param connect options for opening a connection
 * @throws ConversationError `SETTINGS_INVALID` for an invalid URL of a proxy
 */
export const openDispatcher = async (
  environment: ProxyEnvironment,
  options: EnvHttpProxyAgent.Options,
  connect: object = {},
): Promise<Dispatcher> => {
  const httpProxy = proxySetting(environment, "http:")?.text ?? "";
  const httpsProxy = proxySetting(environment)?.text ?? "";
  const Agent = await loadAgent(httpProxy !== "" || httpsProxy !== "");
  const noProxy = [environment.no_proxy || environment.NO_PROXY, ...loopbackHosts];
  try {
    return new Agent({
      ...options,
      pipelining: 1,
      allowH2: false,
      connect: { timeout: 10_000, ...verified, ...connect },
      requestTls: verified,
      proxyTls: verified,
      // Empty texts are deliberate: without them, the agent would read the process's own environment.
      ...{ httpProxy, httpsProxy },
      noProxy: noProxy.filter(Boolean).join(","),
    });
  } catch {
    throw new ConversationError(
      "SETTINGS_INVALID",
      "The value of HTTP_PROXY or HTTPS_PROXY is not a proxy URL that can be used. Nothing was sent. Set it to a URL such as http://proxy.example.com:8080, or remove it.",
      { permanent: true },
    );
  }
};

/**
 * Without a proxy, only this class of the HTTP client, because the whole client takes twice as long
 * to load (measured), and the other class looks for a proxy at every call.
 */
const loadAgent = async (isProxied: boolean): Promise<typeof EnvHttpProxyAgent | typeof Agent> => {
  if (isProxied) return (await import("undici")).EnvHttpProxyAgent;
  try {
    return (await import("undici/lib/dispatcher/agent.js")).default;
  } catch {
    // Another release may have it elsewhere.
    return (await import("undici")).Agent;
  }
};

/** Where HTTP_PROXY, HTTPS_PROXY, and NO_PROXY are looked up. */
type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy for a protocol, and the variable that contains it, as other tools read them: the
 * lower-case name first. Undefined if none is set. Ignores NO_PROXY.
 */
export const proxySetting = (environment: ProxyEnvironment, protocol = "https:") => {
  const http = ["http_proxy", "HTTP_PROXY"];
  const names = protocol === "http:" ? http : ["https_proxy", "HTTPS_PROXY", ...http];
  const variable = names.find((name) => environment[name]);
  return variable === undefined ? undefined : { variable, text: environment[variable] ?? "" };
};

/** The proxy that a call may use, for messages: without its user and password. */
export const proxyOf = (
  { hostname, protocol }: URL,
  environment: ProxyEnvironment,
): string | undefined => {
  const setting = proxySetting(environment, protocol);
  if (!setting || !URL.canParse(setting.text) || isLoopback(hostname)) return undefined;
  return `${new URL(setting.text).host} (${setting.variable})`;
};

/**
 * Uses the dispatcher directly instead of its `request` method: only this shows whether the request
 * was written at all, and keeps the part of a broken answer that may contain an ID.
 */
const exchange = (
  dispatcher: Dispatcher,
  { method, headers, body, signal }: HttpRequest,
  { origin, pathname, search }: URL,
  limit: (expire: () => void) => () => void,
): Promise<HttpResponse> =>
  new Promise((resolve, reject) => {
    let sent = false;
    let head: Pick<HttpResponse, "status" | "headers"> | undefined;
    const chunks: Buffer[] = [];
    let over: Error | undefined;
    let stop: ((reason: Error) => void) | undefined;
    const end = (broken?: Error): void => {
      cancelLimit();
      signal?.removeEventListener("abort", abort);
      const text = Buffer.concat(chunks).toString("utf8");
      if (head) resolve({ ...head, text, ...(broken === undefined ? {} : { broken }) });
      else reject(new TransportFailure(sent, broken));
    };
    const giveUp = (reason: Error): void => {
      over ??= reason;
      end(over);
      stop?.(over);
    };
    const abort = (): void =>
      giveUp(signal?.reason instanceof Error ? signal.reason : new Error("aborted"));
    const cancelLimit = limit(() => giveUp(new DOMException("too slow", "TimeoutError")));
    if (signal?.aborted) return abort();
    signal?.addEventListener("abort", abort, { once: true });
    const call = { origin, path: pathname + search, method, headers: { ...headers } };
    dispatcher.dispatch(body === undefined ? call : { ...call, body }, {
      onRequestStart: (controller) => {
        stop = (reason) => controller.abort(reason);
        // Given up while it waited for a connection: it must not be written anymore.
        if (over) stop(over);
        else sent = true;
      },
      onResponseStart: (_controller, status, received) => {
        // 1xx announces that an answer may follow (RFC 9110 §15.2), and is not one itself.
        if (status >= 200) head = { status, headers: received };
      },
      onResponseData: (_controller, chunk) => void chunks.push(chunk),
      onResponseEnd: () => end(),
      onResponseError: (_controller, error) => end(error),
    });
  });

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

/** Maps a connection failure to one of a fixed set of codes, with an explanation. */
export const connectionFault = (
  { cause, sent, proxy }: Pick<TransportFailure, "cause" | "sent" | "proxy">,
  url: string,
): ConnectionFault => {
  const { host, hostname } = new URL(url);
  const code = findCode(cause);
  const suffix = code === "" ? "" : ` (${code})`;
  const passing = (code: ConversationErrorCode, text: string) => ({ code, text, details: {} });
  const lasting = (code: ConversationErrorCode, text: string) =>
    ({ code, text, details: { permanent: true } }) as const;
  if (withoutTls.test(code)) {
    const text = `no TLS connection to ${host}${suffix}: the server does not use TLS; check the URL's port, and whether the URL must start with http://`;
    return lasting("UNREACHABLE", text);
  }
  if (tlsCode.test(code)) {
    const text = `the TLS connection to ${host} could not be trusted${suffix}; check the URL and the certificate, or set NODE_EXTRA_CA_CERTS to your certificate authority's file`;
    return lasting("UNREACHABLE", text);
  }
  if (code === "UND_ERR_RES_EXCEEDED_MAX_SIZE")
    return lasting("BAD_RESPONSE", `the response from ${host} exceeds 40 MiB; check the URL`);
  const isTimeout = cause instanceof Error && cause.name === "TimeoutError";
  if (isTimeout || timeouts.includes(code))
    return passing("TIMED_OUT", `${host} did not send a complete response within the allowed time`);
  if (sent) {
    const text = `the connection to ${host} broke before the response was complete${suffix}`;
    return passing("UNREACHABLE", text);
  }
  const isUnknown = code === "ENOTFOUND" || code === "EAI_AGAIN";
  // Behind a proxy, only the proxy's name is looked up here.
  const isOwn = causesOf(cause).some((each) => isObject(each) && each.hostname === hostname);
  const unknown = proxy !== undefined && !isOwn ? "of the proxy" : host;
  const what = isUnknown ? `the name ${unknown} could not be resolved` : `no connection to ${host}`;
  const others = proxy === undefined ? " and the network" : `, the network, and the proxy ${proxy}`;
  return passing("UNREACHABLE", `${what}${suffix}; check the URL${others}`);
};

/** The first code in the chain of causes; none if there is none. */
const findCode = (cause: unknown): string =>
  causesOf(cause)
    .map((each) => (isObject(each) && typeof each.code === "string" ? each.code : ""))
    // Anything else would be a foreign text, which must not appear in a message.
    .find((code) => /^[A-Z][A-Z0-9_]{1,63}$/.test(code)) ?? "";

/** A failure and its causes; failures of several addresses of one host form a group. */
const causesOf = (error: unknown, depth = 0): readonly unknown[] => {
  if (depth > 4 || typeof error !== "object" || error === null) return [];
  const inner = error instanceof AggregateError ? error.errors : [];
  const cause = "cause" in error ? [error.cause] : [];
  return [error, ...[...inner, ...cause].flatMap((each) => causesOf(each, depth + 1))];
};

/** A clock that shows an earlier time was never set. */
const earliest = Date.UTC(2000, 0, 1);

/**
 * The service's time when a response arrived, from its Date header (RFC 9110 §6.6.1), in
 * milliseconds since 1970. Undefined if the header is missing or not credible.
 */
export const dateOf = ({ date }: HttpResponse["headers"]): number | undefined => {
  const ms = typeof date === "string" && date.endsWith(" GMT") ? Date.parse(date) : Number.NaN;
  return ms >= earliest ? ms : undefined;
};

/** Tracks the service's own time. */
export interface ServiceTime {
  /** Updates the service's time from the Date header of a response. */
  learn(headers: HttpResponse["headers"]): void;
  /**
   * The service's time in milliseconds since 1970, or this machine's time until a response contains
   * the service's. Undefined if this machine's clock was never set.
   */
  now(): number | undefined;
}

/**
 * This machine's wall clock, corrected by the last response that contained the time. Accurate to
 * about a second.
 */
export const serviceTime = (clock: Clock): ServiceTime => {
  let ahead: number | undefined;
  return {
    learn: (headers) => {
      const date = dateOf(headers);
      if (date !== undefined) ahead = date - clock.wall();
    },
    now: () => {
      if (ahead !== undefined) return clock.wall() + ahead;
      return clock.wall() < earliest ? undefined : clock.wall();
    },
  };
};
