import { hash } from "node:crypto";
import type { Clock } from "../kernel/clock.js";
import { type Endpoint, endpointName } from "../service/http/operations.js";
import type { Pace, Wait } from "../service/http/pace.js";
import type { Plan } from "../service/plans.js";
import type { Settings } from "../service/setting-table.js";
import { tokenEndpoint } from "../service/token.js";
import { type BucketStore, memoryBuckets } from "./bucket-store.js";
import { queuePerEndpoint } from "./endpoint-queue.js";
import { BucketLimiter } from "./limiter.js";
import { conversationRate, type PlanRates } from "./plan-rates.js";
import { type SharedBucketsOptions, sharedBuckets } from "./shared-buckets.js";
import { TenantPlan } from "./tenant-plan.js";
import { UnlimitedUntilRefused } from "./wait-out-refusals.js";

/** Calls per second that an endpoint allows on a plan. */
export type RateTable = (endpoint: Endpoint, plan: Plan) => number;

/** Pacing callbacks. */
export interface PacingHooks {
  /**
   * A call has to wait for more than 2 seconds; called again every 10 seconds with the time left, and at
   * once where it became longer. Runs in the caller's own asynchronous context.
   */
  readonly onWait?: ((wait: Wait) => void) | undefined;
  /** Called once with the plan that a tenant without a configured one seems to have, if not the highest. */
  readonly onPlanGuess?: ((plan: Plan) => void) | undefined;
  /** Called once, with a sentence for people, if the configured plan seems to be too high. */
  readonly onNotice?: ((text: string) => void) | undefined;
}

export interface PacingOptions extends PacingHooks {
  readonly clock: Clock;
  /** Whose buckets these are: the base address of the service. Kept as a hash only. */
  readonly tenant: string;
  /** Left out: the highest, stepping down while calls are refused, and up while they get through. */
  readonly plan?: Plan | undefined;
  /**
   * Calls that an endpoint takes in a spike. Left out: found out. From {@link unlimitedBurst} on there is
   * no limit: a call is held back only after a refusal.
   */
  readonly burst?: number | undefined;
  /**
   * Part of each limit that may be used, above 0, at most 1. Below 1 also a spike is kept to that
   * part of `burst`, or to one call where `burst` is left out.
   */
  readonly share: number;
  /** Where the buckets are kept. Default: in this process. */
  readonly store?: BucketStore;
  /** Longest time for one call to get through after its first refusal. Default: one hour. */
  readonly totalMs?: number;
  /** Rates of the endpoints. Default: Conversation v3 (specification §8.2). */
  readonly rates?: RateTable | undefined;
}

/** A burst that no run uses up: a service that allows it has no limit to keep to. */
export const unlimitedBurst = 1_000_000;

/** Shorter waits are not worth a message, in milliseconds. */
const shortMs = 2_000;

/** A hook that fails must not fail a call. */
const harmless = <T>(hook: ((news: T) => void) | undefined) =>
  hook &&
  ((news: T): void => {
    try {
      hook(news);
    } catch {
      // Listeners are best effort.
    }
  });

const isToken = ({ method, template }: Endpoint): boolean =>
  method === tokenEndpoint.method && template === tokenEndpoint.template;

const onEachPlan = (endpoint: Endpoint, rates: RateTable): PlanRates => ({
  developer: rates(endpoint, "developer"),
  basic: rates(endpoint, "basic"),
  enterprise: rates(endpoint, "enterprise"),
});

/** The listener for a plan that was not expected. */
const onGuessOf = ({ plan, onPlanGuess, onNotice }: PacingOptions) => {
  if (plan === undefined) return harmless(onPlanGuess);
  const notice = harmless(onNotice);
  return (guess: Plan): void =>
    notice?.(
      `The tenant seems to have the plan ${guess}, not ${plan} as configured: its calls are refused again and again. Correct the setting plan.`,
    );
};

/**
 * Keeps calls within the rate limits of the tenant: one bucket for each method and path template,
 * each with its own queue, so that only the endpoint that is short of tokens waits. A call that is
 * refused all the same waits for its next turn, before new ones; a refusal is no failure. The token
 * address has no known rate: it is not held back before it refuses.
 */
export const pacedCalls = (options: PacingOptions): Pace => {
  const { clock, share, burst, totalMs, rates = conversationRate } = options;
  const store = options.store ?? memoryBuckets(() => clock.now());
  // Others can read the store.
  const tenant = hash("sha256", options.tenant).slice(0, 16);
  const plan = new TenantPlan({
    store,
    key: `${tenant}:plan ${options.plan ?? ""}`,
    clock,
    plan: options.plan,
    onGuess: onGuessOf(options),
  });
  const isUnlimited = burst !== undefined && burst >= unlimitedBurst;
  const limiterOf = (endpoint: Endpoint) => {
    if (isToken(endpoint) || isUnlimited) return new UnlimitedUntilRefused(clock);
    const key = `${tenant}:${endpointName(endpoint)}`;
    return new BucketLimiter({
      store,
      key,
      plan,
      rates: onEachPlan(endpoint, rates),
      share,
      burst,
    });
  };
  const onWait = harmless(options.onWait);
  return queuePerEndpoint(limiterOf, { clock, totalMs, announcedMs: shortMs, onWait });
};

/** A service of the tenant. */
export interface PacedService {
  readonly baseUrl: string;
  /** Rates of its endpoints. Default: those of Conversation v3. */
  readonly rates?: RateTable | undefined;
}

/** The paces of the services of one tenant, and the place where they keep their buckets. */
export interface ServicePaces {
  pace(service: PacedService): Pace;
  /** Gives the place back; a connection to Redis would keep the process alive. */
  close(): Promise<void>;
}

export interface ServicePacesOptions
  extends PacingHooks,
    Pick<SharedBucketsOptions, "onNotice" | "environment"> {
  readonly clock: Clock;
  /** Default: shared with other processes and within this one, see {@link sharedBuckets}. */
  readonly buckets?: BucketStore | undefined;
}

/** How calls keep to the rates of the settings. Opens nothing before the first call. */
export const servicePaces = (settings: Settings, options: ServicePacesOptions): ServicePaces => {
  const { plan, burst, share, redisUrl } = settings;
  const { clock, buckets, environment, onWait, onPlanGuess, onNotice } = options;
  const store = buckets ?? sharedBuckets({ clock, redisUrl, onNotice, environment });
  const shared = { clock, store, plan, burst, share, onWait, onPlanGuess, onNotice };
  return {
    pace: ({ baseUrl, rates }) => pacedCalls({ ...shared, tenant: baseUrl, rates }),
    close: () => store.close(),
  };
};
