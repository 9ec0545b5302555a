import { type Clock, systemClock } from "../kernel/clock.js";
import { ConversationError } from "../kernel/errors.js";
import { packageName, packageVersion } from "../kernel/package.js";
import { type Request, serviceRequest } from "./client.js";
import { type Collections, restCollections, serviceAddress } from "./collections.js";
import type { Pace } from "./pace.js";
import { clientSecrets } from "./redaction.js";
import type { RetryLimits } from "./retry.js";
import type { Settings } from "./settings.js";
import { accessTokens, type ConnectionParts } from "./token.js";
import { type CallEvent, httpTransport, serviceTime, type Transport } from "./transport.js";

/** A connection to one tenant's service: the collections, all operations, and the token. */
export interface Service extends Collections {
  readonly request: Request;
  /** Returns the scopes of the current token if known, fetching a token if there is none. */
  token(): Promise<{ readonly scopes: readonly string[] | undefined }>;
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
  /** Signal that cancels waiting calls with `CANCELLED`, like `close`. */
  readonly signal?: AbortSignal;
}

/**
 * Creates the parts that all connections to a tenant share, and a method that cancels waiting calls
 * with `CANCELLED` and closes all connections. Sends nothing; connections open on first use.
 */
export const clientParts = (
  settings: Settings,
  { clock = systemClock, transport = httpTransport(), signal, ...options }: ServiceOptions,
): { readonly parts: ConnectionParts; readonly close: () => Promise<void> } => {
  const closing = new AbortController();
  const parts: ConnectionParts = {
    settings,
    secrets: clientSecrets(settings),
    clock,
    time: serviceTime(clock),
    transport,
    retry: options.retry,
    pace: options.pace,
    headers: {
      accept: "application/json",
      // Otherwise any encoding is welcome (RFC 9110 §12.5.3).
      "accept-encoding": "identity",
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
  const tokens = accessTokens(parts);
  const address = serviceAddress(settings);
  const request = serviceRequest(parts, tokens);
  return {
    ...restCollections({ request, address, time: parts.time }),
    request: async (operation, callOptions) => {
      const answer = await request(operation, callOptions);
      address.confirm();
      return answer;
    },
    token: async () => ({ scopes: (await tokens.current()).scopes }),
    close,
  };
};
