import type { BucketState } from "../../provider/pacing/buckets.js";
import {
  type PacedService,
  type ServicePaces,
  servicePaces,
} from "../../provider/pacing/service-paces.js";
import { type ClientParts, type Request, serviceRequest } from "../../provider/service/client.js";
import { type Clock, systemClock } from "../../provider/service/clock.js";
import { commonHeaders } from "../../provider/service/connect.js";
import { ConversationError } from "../../provider/service/errors.js";
import { type Pace, type Wait, waitOutRefusals } from "../../provider/service/pace.js";
import type { Plan } from "../../provider/service/plans.js";
import type { RetryLimits } from "../../provider/service/retry.js";
import type { Settings } from "../../provider/service/setting-table.js";
import { tokenSource } from "../../provider/service/token-source.js";
import { httpTransport, type Transport } from "../../provider/service/transport.js";

/** How a connection behaves; everything may be left out. */
export interface ConnectionOptions {
  /**
   * `plan` (default): calls keep to the rates of the tenant's plan, together with all other
   * processes of this machine, or of every machine where `redisUrl` is set. `after-refusal`: calls
   * go at once and wait only after a 429, for services without limits such as an emulator.
   */
  readonly pacing?: "plan" | "after-refusal";
  /** Told when calls have to wait for their endpoint. */
  readonly onWait?: (wait: Wait) => void;
  /** Told once which plan a tenant without a configured one seems to have. */
  readonly onPlanGuess?: (plan: Plan) => void;
  /** Told, as a sentence for people, when the rates cannot be shared with other processes for a while. */
  readonly onNotice?: (text: string) => void;
  /** How often and how long what may be repeated is repeated. */
  readonly retry?: Partial<RetryLimits>;
  /** Ends waiting calls with `CANCELLED`, like `close`. */
  readonly signal?: AbortSignal;
  /** Where settings that are left out are looked up. Default: the process's environment. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Tests pass their own. */
  readonly clock?: Clock;
  /** Tests pass their own. */
  readonly transport?: Transport;
  /** Where the rate buckets are kept. Default: where `pacing: "plan"` says. */
  readonly buckets?: BucketState;
}

/** One transport, one token and one set of rate buckets for all services of a tenant. */
export interface Connection {
  readonly settings: Settings;
  readonly clock: Clock;
  /** Ends when the connection is closed. */
  readonly signal: AbortSignal;
  /** How calls to a service are paced. */
  pace(service: PacedService): Pace;
  /** Calls of a service, in the pace given. */
  request(baseUrl: string, pace: Pace): Request;
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
  const tokens = tokenSource({ ...parts, pace: waitOutRefusals(waits) });
  return {
    settings,
    clock,
    signal,
    pace,
    request: (baseUrl, pace) =>
      serviceRequest({ ...parts, settings: { ...settings, baseUrl }, tokens, pace }),
    scopes: () => tokens.last?.scopes,
    close: async () => {
      closing.abort(
        new ConversationError("CANCELLED", "The connection to the service was closed."),
      );
      await Promise.all([transport.close(), close()]);
    },
  };
};
