import { z } from "zod";
import type { Clock } from "../../../provider/kernel/clock.js";
import {
  type PacedService,
  type ServicePaces,
  servicePaces,
} from "../../../provider/pacing/pacer.js";
import type { BucketStore } from "../../../provider/pacing/stores/bucket-store.js";
import { waitOutRefusals } from "../../../provider/pacing/wait-out-refusals.js";
import { sharedParts } from "../../../provider/service/connect.js";
import { type Request, serviceRequest } from "../../../provider/service/http/client.js";
import type { Endpoint } from "../../../provider/service/http/operations.js";
import type { Pace, Wait } from "../../../provider/service/http/pace.js";
import type { RetryLimits } from "../../../provider/service/http/retry.js";
import type { Transport } from "../../../provider/service/http/transport.js";
import type { Plan } from "../../../provider/service/settings/plans.js";
import type { Settings } from "../../../provider/service/settings/setting-table.js";
import { tokenSource } from "../../../provider/service/token/access-token.js";
import { anyFunction, callOptions, checkedOptions } from "../input-schemas.js";
import { withoutUndefined } from "../json-members.js";
import {
  type CallHooks,
  type CallObserver,
  callObserver,
  harmlessHook,
  observedEndpoint,
  observedTransport,
} from "./call-observer.js";

/** How a connection behaves; everything may be left out. */
export interface ConnectionOptions extends CallHooks {
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
  readonly buckets?: BucketStore;
}

const limit = z.number("must be a number").nonnegative("must not be below 0").optional();
const anyObject = z
  .custom((value) => typeof value === "object" && value !== null, "must be an object")
  .optional();

const rules = callOptions.extend({
  pacing: z.enum(["plan", "after-refusal"], "must be plan or after-refusal").optional(),
  onWait: anyFunction.optional(),
  onPlanGuess: anyFunction.optional(),
  onNotice: anyFunction.optional(),
  onRequest: anyFunction.optional(),
  onResponse: anyFunction.optional(),
  retry: z
    .looseObject(
      { retries: limit, minTimeoutMs: limit, maxTimeoutMs: limit, maxRetryTimeMs: limit },
      "must be an object",
    )
    .optional(),
  environment: z
    .record(z.string(), z.string("must be text").optional(), "must be an object")
    .optional(),
  clock: anyObject,
  transport: anyObject,
  buckets: anyObject,
});

/**
 * A copy of the options, checked, whose hooks can do no harm: a failing one must not hold up those
 * who wait.
 *
 * @throws ConversationError `INPUT_INVALID` naming the option that cannot be used
 */
export const connectionOptionsOf = (options: ConnectionOptions): ConnectionOptions => {
  const copy = checkedOptions("connect", rules, options);
  const { onWait, onPlanGuess, onNotice } = copy;
  const hooks = {
    onWait: onWait && harmlessHook("onWait", onWait),
    onPlanGuess: onPlanGuess && harmlessHook("onPlanGuess", onPlanGuess),
    onNotice: onNotice && harmlessHook("onNotice", onNotice),
  };
  return { ...copy, ...withoutUndefined(hooks) };
};

/** One transport, one token and one set of rate buckets for all services of a tenant. */
export interface Connection {
  readonly clock: Clock;
  /** Ends when the connection is closed. */
  readonly signal: AbortSignal;
  /** How calls to a service are paced. */
  pace(service: PacedService): Pace;
  /** Tells hooks and OpenTelemetry of calls. */
  readonly observe: CallObserver;
  /** Calls of a service, in the pace given; told under the name of the operation, or of another endpoint. */
  request(baseUrl: string, pace: Pace, endpoint?: Endpoint): Request;
  /** Scopes of the token in use, where the token address tells them. */
  scopes(): readonly string[] | undefined;
  /** Ends waiting calls with `CANCELLED` and all connections. */
  close(): Promise<void>;
}

/** The token address, as hooks and traces name it. */
const tokenEndpoint = { method: "POST", template: "TOKEN" } as const;

/** Sends nothing: token, connections and buckets are had on first use. */
export const openConnection = (settings: Settings, options: ConnectionOptions): Connection => {
  const { close, ...parts } = sharedParts(settings, options);
  const { clock, signal, transport } = parts;
  const { onWait } = options;
  const afterRefusals = () => waitOutRefusals({ clock, ...withoutUndefined({ onWait }) });
  const paces: ServicePaces =
    options.pacing === "after-refusal"
      ? { pace: afterRefusals, close: async () => {} }
      : servicePaces(settings, { ...options, clock });
  const observe = callObserver(options, clock);
  const tokens = tokenSource({
    ...parts,
    transport: observedEndpoint(transport, observe, tokenEndpoint),
    pace: afterRefusals(),
  });
  return {
    clock,
    signal,
    pace: paces.pace,
    observe,
    request: (baseUrl, pace, endpoint) => async (operation, callOptions) => {
      const observed = observedTransport(transport, await observe(endpoint ?? operation));
      const service = { ...parts, settings: { ...settings, baseUrl }, transport: observed };
      return serviceRequest({ ...service, tokens, pace })(operation, callOptions);
    },
    scopes: () => tokens.last?.scopes,
    close: async () => {
      await Promise.all([close(), paces.close()]);
    },
  };
};
