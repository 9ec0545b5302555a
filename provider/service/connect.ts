import { type Clock, systemClock } from "../kernel/clock.js";
import { ConversationError } from "../kernel/errors.js";
import { packageName, packageVersion } from "../kernel/package.js";
import type { CallEvent } from "./call-events.js";
import { type Request, serviceRequest } from "./client.js";
import { type Collections, restCollections, serviceAddress } from "./collections.js";
import { type Pace, serviceTime } from "./pace.js";
import { clientSecrets } from "./redaction.js";
import type { RetryLimits } from "./retry.js";
import type { Settings } from "./settings.js";
import { accessTokens, type TokenParts } from "./token.js";
import { httpTransport, type Transport } from "./transport.js";

/** What is known about the current access token; never the token itself. */
export interface TokenInfo {
  /** Granted scopes, if the token URL reports them. */
  readonly scopes?: readonly string[];
  /** Time left before a new token is fetched, in milliseconds. */
  readonly usableForMs: number;
  /** Number of tokens that this service object has fetched so far. */
  readonly fetched: number;
}

/** A connection to one tenant's service: the collections, all operations, and the token. */
export interface Service extends Collections {
  readonly request: Request;
  /** Returns the grant of the current token, fetching a token if there is none. */
  token(): Promise<TokenInfo>;
  /** Cancels waiting calls with `CANCELLED` and closes all connections. */
  close(): Promise<void>;
}

/** When calls are sent, and parts that a caller or a test may replace. */
export interface ServiceOptions {
  readonly clock?: Clock;
  readonly transport?: Transport;
  /** Decides when calls are sent. */
  readonly pace: Pace;
  readonly retry?: Partial<RetryLimits>;
  /** Called with everything that happens to calls. Must not fail. */
  readonly onEvent?: (event: CallEvent) => void;
  /**
   * Maximum total size of all lists, in bytes. Default: derived from the memory of this process.
   */
  readonly listBytes?: number;
  /** Signal that cancels waiting calls with `CANCELLED`, like `close`. */
  readonly signal?: AbortSignal;
}

/**
 * Creates the parts that all connections to a tenant share, and a method that cancels waiting calls
 * with `CANCELLED` and closes all connections. Sends nothing; connections open on first use.
 */
export const clientParts = (
  settings: Settings,
  options: Omit<ServiceOptions, "listBytes">,
): { readonly parts: TokenParts; readonly close: () => Promise<void> } => {
  const { clock = systemClock, transport = httpTransport(), retry, signal } = options;
  const closing = new AbortController();
  const parts: TokenParts = {
    settings,
    secrets: clientSecrets(settings),
    clock,
    transport,
    retry,
    pace: options.pace,
    headers: {
      accept: "application/json",
      "accept-language": "en-US",
      "user-agent": `${packageName}/${packageVersion()}`,
    },
    onEvent: options.onEvent ?? (() => {}),
    signal: signal ? AbortSignal.any([closing.signal, signal]) : closing.signal,
  };
  const close = async (): Promise<void> => {
    closing.abort(new ConversationError("CANCELLED", "The client was closed."));
    await transport.close();
  };
  return { parts, close };
};

/**
 * Connects to a service. Sends nothing; the token, connections, and lists are created on first use.
 */
export const connectService = (settings: Settings, options: ServiceOptions): Service => {
  const { parts, close } = clientParts(settings, options);
  const { clock } = parts;
  const time = serviceTime(clock);
  const onEvent = (event: CallEvent): void => {
    if (event.type === "answered") time.learn(event.response);
    parts.onEvent(event);
  };
  const tokens = accessTokens(parts);
  const address = serviceAddress(settings);
  const request = serviceRequest({ ...parts, onEvent }, tokens);
  return {
    ...restCollections({ request, address, time, listBytes: options.listBytes }),
    request: async (operation, callOptions) => {
      const { status, body } = await request(operation, callOptions);
      address.confirm();
      return { status, body };
    },
    token: async () => {
      const { scopes, usableUntil, generation } = await tokens.current();
      const usableForMs = Math.max(0, usableUntil - clock.now());
      return { ...(scopes ? { scopes } : {}), usableForMs, fetched: generation };
    },
    close,
  };
};
