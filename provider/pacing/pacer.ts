import { createHash } from "node:crypto";
import type { Clock } from "../kernel/clock.js";
import { type Endpoint, endpointName } from "../service/http/operations.js";
import type { Pace, Wait } from "../service/http/pace.js";
import type { Plan } from "../service/settings/plans.js";
import { tokenEndpoint } from "../service/token/token-call.js";
import { BucketLimiter } from "./endpoint-limiter.js";
import { EndpointQueue } from "./endpoint-queue.js";
import { perEndpoint, waitOutRefusals } from "./limiter/after-refusals.js";
import { rateOf } from "./plan/plan-rates.js";
import { TenantPlan } from "./plan/tenant-plan.js";
import type { BucketStore } from "./stores/bucket-store.js";
import { memoryBuckets } from "./stores/memory-buckets.js";

/** Calls per second that an endpoint allows on a plan. */
export type RateTable = (endpoint: Endpoint, plan: Plan) => number;

export interface PacingOptions {
  readonly clock: Clock;
  /** Whose buckets these are: the base address of the service. Kept as a hash only. */
  readonly tenant: string;
  /** Left out: the highest, stepping down while calls are refused, and up while they get through. */
  readonly plan?: Plan;
  /** Calls that an endpoint takes in a spike. Left out: found out. */
  readonly burst?: number;
  /**
   * Part of each limit that may be used, above 0, at most 1. Below 1 also a spike is kept to that
   * part of `burst`, or to one call where `burst` is left out.
   */
  readonly share: number;
  /** Where the buckets are kept. Default: in this process. */
  readonly store?: BucketStore;
  /**
   * A call has to wait for more than 2 seconds; told again every 10 seconds with the time left. Runs
   * in the caller's own asynchronous context.
   */
  readonly onWait?: (wait: Wait) => void;
  /** Told once which plan a tenant without a configured one seems to have, if not the highest. */
  readonly onPlanGuess?: (plan: Plan) => void;
  /** Told once, as a sentence for people, where the configured plan seems to be too high. */
  readonly onNotice?: (text: string) => void;
  /** Longest time for one call to get through after its first refusal. Default: one hour. */
  readonly totalMs?: number;
  /** Rates of the endpoints. Default: Conversation v3 (specification §8.2). */
  readonly rates?: RateTable;
}

/** Default time for a call to get through after its first refusal, in milliseconds. */
const hourMs = 60 * 60_000;
/** Shorter waits are not worth a message, in milliseconds. */
const shortMs = 2_000;

const conversationRates: RateTable = ({ method, template }, plan) =>
  rateOf({ service: "Conversation", version: "v3", plan, method, template });

/** How a tenant is named in a store that others can read. */
const tenantKey = (tenant: string): string =>
  createHash("sha256").update(tenant).digest("hex").slice(0, 16);

/** A hook that fails must not fail a call. */
const harmless =
  <T>(hook: ((news: T) => void) | undefined) =>
  (news: T): void => {
    try {
      hook?.(news);
    } catch {
      // Whoever listens is told best effort.
    }
  };

const isToken = ({ method, template }: Endpoint): boolean =>
  method === tokenEndpoint.method && template === tokenEndpoint.template;

/** Who is told of a plan that is not the one to be expected. */
const guessed = ({ plan, onPlanGuess, onNotice }: PacingOptions): ((guess: Plan) => void) => {
  if (plan === undefined) return harmless(onPlanGuess);
  const notice = harmless(onNotice);
  return (guess) =>
    notice(
      `The tenant seems to have the plan ${guess}, not ${plan} as configured: its calls are refused again and again. Correct the setting plan.`,
    );
};

/** Makes the queue of one endpoint. */
const queues = (options: PacingOptions): ((endpoint: Endpoint) => EndpointQueue) => {
  const { clock, share, burst, totalMs = hourMs, rates = conversationRates } = options;
  const store = options.store ?? memoryBuckets(() => clock.now());
  const onWait = harmless(options.onWait);
  const tenant = tenantKey(options.tenant);
  const plan = new TenantPlan({
    store,
    key: `${tenant}:plan ${options.plan ?? ""}`,
    now: () => clock.now(),
    ...(options.plan ? { plan: options.plan } : {}),
    onGuess: guessed(options),
  });
  return (endpoint) => {
    const name = endpointName(endpoint);
    const limiter = new BucketLimiter({
      store,
      key: `${tenant}:${name}`,
      plan: plan.forEndpoint(name, (one) => rates(endpoint, one)),
      share,
      ...(burst === undefined ? {} : { burst }),
    });
    return new EndpointQueue({
      endpoint,
      clock,
      limiter,
      totalMs,
      announcedMs: shortMs,
      onWait: (news) => onWait({ ...endpoint, ...news }),
    });
  };
};

/**
 * Keeps calls within the rate limits of the tenant: one bucket for each method and path template,
 * each with its own queue, so that only the endpoint that is short of tokens waits. A call that is
 * refused all the same waits for its next turn, before new ones; a refusal is no failure. The token
 * address has no known rate: it is not held back before it refuses.
 */
export const pacedCalls = (options: PacingOptions): Pace => {
  const { clock, totalMs = hourMs } = options;
  const tokenCalls = waitOutRefusals({
    clock,
    totalMs,
    announcedMs: shortMs,
    onWait: harmless(options.onWait),
  });
  const paced = perEndpoint(queues(options));
  return (endpoint, attempt, signal) =>
    (isToken(endpoint) ? tokenCalls : paced)(endpoint, attempt, signal);
};
