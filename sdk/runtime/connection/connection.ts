import { type Clock, systemClock } from "../../../provider/kernel/clock.js";
import { ConversationError } from "../../../provider/kernel/errors.js";
import { waitOutRefusals } from "../../../provider/pacing/limiter/after-refusals.js";
import {
  type PacedService,
  type ServicePaces,
  servicePaces,
} from "../../../provider/pacing/plan/service-paces.js";
import { commonHeaders } from "../../../provider/service/connect.js";
import {
  type ClientParts,
  type Request,
  serviceRequest,
} from "../../../provider/service/http/client.js";
import type { Endpoint } from "../../../provider/service/http/operations.js";
import type { Pace } from "../../../provider/service/http/pace.js";
import { httpTransport } from "../../../provider/service/http/transport.js";
import type { Settings } from "../../../provider/service/settings/setting-table.js";
import { tokenSource } from "../../../provider/service/token/access-token.js";
import { type CallWatch, callWatch, watchedEndpoint, watchedTransport } from "./call-watch.js";
import type { ConnectionOptions } from "./connection-options.js";

/** One transport, one token and one set of rate buckets for all services of a tenant. */
export interface Connection {
  readonly settings: Settings;
  readonly clock: Clock;
  /** Ends when the connection is closed. */
  readonly signal: AbortSignal;
  /** How calls to a service are paced. */
  pace(service: PacedService): Pace;
  /** Who watches calls. */
  readonly watch: CallWatch;
  /** Calls of a service, in the pace given; watched under the name of the operation, or of another endpoint. */
  request(baseUrl: string, pace: Pace, endpoint?: Endpoint): Request;
  /** Scopes of the token in use, where the token address tells them. */
  scopes(): readonly string[] | undefined;
  /** Ends waiting calls with `CANCELLED` and all connections. */
  close(): Promise<void>;
}

/** How each service of the tenant is paced. */
const paces = (settings: Settings, options: ConnectionOptions, clock: Clock): ServicePaces => {
  const { onWait } = options;
  if (options.pacing !== "after-refusal") return servicePaces(settings, { ...options, clock });
  const pace = () => waitOutRefusals({ clock, ...(onWait ? { onWait } : {}) });
  return { pace, close: async () => {} };
};

/** The token address, as watchers know it. */
const tokenEndpoint = { method: "POST", template: "TOKEN" } as const;

/** Sends nothing: token, connections and buckets are had on first use. */
export const openConnection = (settings: Settings, options: ConnectionOptions): Connection => {
  const closing = new AbortController();
  const signal = options.signal
    ? AbortSignal.any([closing.signal, options.signal])
    : closing.signal;
  const clock = options.clock ?? systemClock;
  const transport = options.transport ?? httpTransport();
  const { pace, close } = paces(settings, options, clock);
  const parts: Omit<ClientParts, "tokens" | "pace"> = {
    settings,
    clock,
    transport,
    headers: commonHeaders(),
    signal,
    ...(options.retry ? { retry: options.retry } : {}),
  };
  const waits = { clock, ...(options.onWait ? { onWait: options.onWait } : {}) };
  const watch = callWatch(options, clock);
  const tokens = tokenSource({
    ...parts,
    transport: watchedEndpoint(transport, watch, tokenEndpoint),
    pace: waitOutRefusals(waits),
  });
  return {
    settings,
    clock,
    signal,
    pace,
    watch,
    request: (baseUrl, pace, endpoint) => async (operation, callOptions) => {
      const watched = watchedTransport(transport, await watch(endpoint ?? operation));
      const own = {
        ...parts,
        transport: watched,
        settings: { ...settings, baseUrl },
        tokens,
        pace,
      };
      return serviceRequest(own)(operation, callOptions);
    },
    scopes: () => tokens.last?.scopes,
    close: async () => {
      closing.abort(
        new ConversationError("CANCELLED", "The connection to the service was closed."),
      );
      await Promise.all([transport.close(), close()]);
    },
  };
};
