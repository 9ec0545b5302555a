import { type Clock, systemClock } from "../kernel/clock.js";
import { ConversationError } from "../kernel/errors.js";
import { packageName, packageVersion } from "../kernel/package.js";
import { waitOutRefusals } from "../pacing/endpoint-queue.js";
import type { AccessToken, TokenParts } from "./call.js";
import { datedRequest, type Request, tokenSource } from "./client.js";
import { type Collections, restCollections, serviceAddress } from "./collections.js";
import type { Pace, Wait } from "./pace.js";
import { serviceTime } from "./pace.js";
import { clientSecrets } from "./redaction.js";
import type { OnRepeat, RetryLimits } from "./retry.js";
import type { Settings } from "./setting-table.js";
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

/** Parts that a caller or a test may replace. */
export interface ServiceOptions {
  readonly clock?: Clock;
  readonly transport?: Transport;
  /**
   * Decides when calls are sent. By default, calls are sent immediately and wait only after a 429.
   */
  readonly pace?: Pace;
  /** Called when a call has to wait, and again at intervals; only with the default pace. */
  readonly onWait?: (wait: Wait) => void;
  readonly retry?: Partial<RetryLimits>;
  readonly onRepeat?: OnRepeat;
  /**
   * Maximum total size of all lists, in bytes. Default: derived from the memory of this process.
   */
  readonly listBytes?: number;
  /** Signal that cancels waiting calls with `CANCELLED`, like `close`. */
  readonly signal?: AbortSignal;
}

/** Headers of every call. */
const commonHeaders = (): Readonly<Record<string, string>> => ({
  accept: "application/json",
  "accept-language": "en-US",
  "user-agent": `${packageName}/${packageVersion()}`,
});

/** The parts that all connections to a tenant share, and a method that closes the connections. */
export interface SharedParts extends Omit<TokenParts, "pace"> {
  /** Cancels waiting calls with `CANCELLED` and closes all connections. */
  close(): Promise<void>;
}

/**
 * Creates the parts that all connections to a tenant share. Sends nothing; connections open on
 * first use.
 */
export const sharedParts = (
  settings: Settings,
  options: Pick<ServiceOptions, "clock" | "transport" | "retry" | "onRepeat" | "signal">,
): SharedParts => {
  const { clock = systemClock, transport = httpTransport(), retry, onRepeat, signal } = options;
  const closing = new AbortController();
  return {
    settings,
    secrets: clientSecrets(settings),
    clock,
    transport,
    headers: commonHeaders(),
    signal: signal ? AbortSignal.any([closing.signal, signal]) : closing.signal,
    ...(retry ? { retry } : {}),
    ...(onRepeat ? { onRepeat } : {}),
    close: async () => {
      closing.abort(new ConversationError("CANCELLED", "The client was closed."));
      await transport.close();
    },
  };
};

const infoOf = (token: AccessToken, clock: Clock): TokenInfo => ({
  ...(token.scopes ? { scopes: token.scopes } : {}),
  usableForMs: Math.max(0, token.usableUntil - clock.now()),
  fetched: token.generation,
});

/**
 * Connects to a service. Sends nothing; the token, connections, and lists are created on first use.
 */
export const connectService = (settings: Settings, options: ServiceOptions = {}): Service => {
  const { onWait } = options;
  const { close, ...shared } = sharedParts(settings, options);
  const { clock } = shared;
  const pace = options.pace ?? waitOutRefusals({ clock, ...(onWait ? { onWait } : {}) });
  const parts = { ...shared, pace };
  const tokens = tokenSource(parts);
  const time = serviceTime(clock);
  const address = serviceAddress(settings);
  const request = datedRequest({ ...parts, tokens, onAnswer: time.learn });
  return {
    ...restCollections({ request, address, time, listBytes: options.listBytes }),
    request: async (operation, callOptions) => {
      const { status, body } = await request(operation, callOptions);
      address.confirm();
      return { status, body };
    },
    token: async () => infoOf(await tokens.current(), clock),
    close,
  };
};
