import { hash } from "node:crypto";
import type { Clock } from "../kernel/clock.js";
import { type Endpoint, endpointName } from "../service/operations.js";
import type { Pace, Wait } from "../service/pace.js";
import type { Plan } from "../service/plans.js";
import type { Settings } from "../service/setting-table.js";
import { tokenEndpoint } from "../service/token.js";
import {
  type Admission,
  type CallOutcome,
  type Delay,
  type EndpointLimiter,
  queuePerEndpoint,
  type Slept,
  UnlimitedUntilRefused,
} from "./endpoint-queue.js";
import {
  afterOutcome,
  type Decide,
  keptStep,
  nextTurn,
  ownAtFirst,
  type StepEnd,
} from "./limiter.js";
import { burstShare, conversationLimit, type EndpointLimit, type PlanRates } from "./plan-rates.js";
import {
  type BucketStore,
  memoryBuckets,
  type SharedBucketsOptions,
  sharedBuckets,
} from "./shared-buckets.js";
import { TenantPlan } from "./tenant-plan.js";

/** What an endpoint allows on a plan. */
type LimitTable = (endpoint: Endpoint, plan: Plan) => Pick<EndpointLimit, "rate" | "burst">;

/** Pacing callbacks. */
interface PacingHooks {
  /**
   * A call has to wait for more than 2 seconds; called again every 10 seconds with the time left,
   * and at once if it became longer. Runs in the caller's own asynchronous context.
   */
  readonly onWait?: ((wait: Wait) => void) | undefined;
  /**
   * Called once with the apparent plan of a tenant without a configured one, unless it is the
   * highest.
   */
  readonly onPlanGuess?: ((plan: Plan) => void) | undefined;
  /** Called once, with a sentence for people, if the configured plan seems to be too high. */
  readonly onNotice?: ((text: string) => void) | undefined;
}

export interface PacingOptions extends PacingHooks {
  readonly clock: Clock;
  /** The service's base URL, which identifies the owner of these buckets. Stored only as a hash. */
  readonly tenant: string;
  /**
   * The tenant's plan. If omitted, the pacer starts with the highest plan, steps down while calls
   * are refused, and steps up while they succeed.
   */
  readonly plan?: Plan | undefined;
  /**
   * Number of calls that every endpoint accepts in a burst. Default: as documented for the plan. At
   * {@link unlimitedBurst} or more, bursts are unlimited, and calls wait only after a refusal.
   */
  readonly burst?: number | undefined;
  /**
   * Fraction of each rate and burst that may be used, greater than 0 and at most 1; of a burst, at
   * least one call.
   */
  readonly share: number;
  /** Store for the buckets. Default: the memory of this process. */
  readonly store?: BucketStore;
  /**
   * Maximum time, in milliseconds, for one call to succeed after its first refusal. Default: one
   * hour.
   */
  readonly totalMs?: number;
  /** Limits of the endpoints. Default: Conversation v3 (specification §8.2). */
  readonly limits?: LimitTable | undefined;
}

/** A burst that no run can use up: a service that allows it has no effective limit. */
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

/** The listener for an unexpected plan. */
const onGuessOf = ({ plan, onPlanGuess, onNotice }: PacingOptions) => {
  if (plan === undefined) return harmless(onPlanGuess);
  const notice = harmless(onNotice);
  return (guess: Plan): void =>
    notice?.(
      `The tenant seems to be on the ${guess} plan, not the configured ${plan} plan: the service repeatedly refuses calls. Correct the plan setting.`,
    );
};

/**
 * Keeps calls within the tenant's rate limits. Each combination of method and path template has its
 * own bucket and queue, so only calls to an endpoint without tokens wait. A refused call is not a
 * failure: it waits for its next turn, ahead of new calls. The token URL has no known rate, so
 * calls to it wait only after a refusal.
 */
export const pacedCalls = (options: PacingOptions): Pace => {
  const { clock, share, burst, totalMs, limits = conversationLimit } = options;
  const store = options.store ?? memoryBuckets(() => clock.now());
  // Others can read the store.
  const tenant = hash("sha256", options.tenant).slice(0, 16);
  const plan = new TenantPlan({
    store,
    key: `${tenant}:plan ${options.plan ?? ""}`,
    plan: options.plan,
    onGuess: onGuessOf(options),
  });
  const isUnlimited = burst !== undefined && burst >= unlimitedBurst;
  const limiterOf = (endpoint: Endpoint) => {
    if (isToken(endpoint) || isUnlimited) return new UnlimitedUntilRefused(clock);
    const key = `${tenant}:${endpointName(endpoint)}`;
    const limitOn = (on: Plan) => ({
      ...limits(endpoint, on),
      ...(burst === undefined ? {} : { burst }),
    });
    return new BucketLimiter({ store, key, plan, limitOn, share });
  };
  const onWait = harmless(options.onWait);
  return queuePerEndpoint(limiterOf, { clock, totalMs, announcedMs: shortMs, onWait });
};

/** One of the tenant's services. */
export interface PacedService {
  readonly baseUrl: string;
  /** Limits of the service's endpoints. Default: those of Conversation v3. */
  readonly limits?: LimitTable | undefined;
}

/** Pacing for one tenant's services, and the store for their buckets. */
export interface ServicePaces {
  pace(service: PacedService): Pace;
  /** Releases the store, because a connection to Redis would keep the process alive. */
  close(): Promise<void>;
}

interface ServicePacesOptions
  extends PacingHooks,
    Pick<SharedBucketsOptions, "onNotice" | "environment"> {
  readonly clock: Clock;
  /** Default: shared with other processes and within this one, see {@link sharedBuckets}. */
  readonly buckets?: BucketStore | undefined;
}

/** Returns the pacing for a tenant's services. Opens the store only on the first call. */
export const servicePaces = (settings: Settings, options: ServicePacesOptions): ServicePaces => {
  const { plan, burst, share, redisUrl } = settings;
  const { clock, buckets, environment, onWait, onPlanGuess, onNotice } = options;
  const store = buckets ?? sharedBuckets({ clock, redisUrl, onNotice, environment });
  const shared = { clock, store, plan, burst, share, onWait, onPlanGuess, onNotice };
  return {
    pace: ({ baseUrl, limits }) => pacedCalls({ ...shared, tenant: baseUrl, limits }),
    close: () => store.close(),
  };
};

interface BucketLimiterOptions {
  readonly store: BucketStore;
  /** Name of the bucket in the store. */
  readonly key: string;
  /** Determines the applicable limit. */
  readonly plan: TenantPlan;
  readonly limitOn: (plan: Plan) => Pick<EndpointLimit, "rate" | "burst">;
  /** Fraction of the rate, and of the burst, that may be used. */
  readonly share: number;
}

/**
 * The clocks of two machines differ slightly in speed: 500 ppm, the maximum that NTP corrects (RFC
 * 5905 §11.3).
 */
const driftPart = 1.0005;

/** An endpoint with a known rate, whose bucket others may share. */
class BucketLimiter implements EndpointLimiter {
  readonly #options: BucketLimiterOptions;
  readonly #rates: PlanRates;
  #own = ownAtFirst;
  #last: StepEnd<unknown> | undefined;
  /** A store may take time, and each step needs the result of the previous one. */
  #lastStep: Promise<unknown> = Promise.resolve();

  constructor(options: BucketLimiterOptions) {
    this.#options = options;
    const rateOn = (plan: Plan): number => options.limitOn(plan).rate;
    this.#rates = {
      developer: rateOn("developer"),
      basic: rateOn("basic"),
      enterprise: rateOn("enterprise"),
    };
  }

  ask(slept?: Slept): Promise<Admission | Delay> {
    return this.#step((state, now, limit) => nextTurn(state, slept, now, limit), false);
  }

  async ended(admission: Admission, outcome: CallOutcome): Promise<void> {
    const { plan, key } = this.#options;
    const evidence = await this.#step(
      (state, now, limit) => afterOutcome(state, admission, outcome, now, limit),
      true,
    );
    if (evidence) await plan.learn(evidence, key, this.#rates);
  }

  /** @param isOutcome many outcomes do not change the bucket, and then the store is not called */
  #step<R>(decide: Decide<R>, isOutcome: boolean): Promise<R> {
    const { store, key, plan, limitOn, share } = this.#options;
    const done = this.#lastStep.then(async () => {
      const { rate, burst } = limitOn(await plan.current());
      const periodMs = (1000 / (rate * share)) * driftPart;
      const limit = { periodMs, burst, mostBurst: burstShare(burst, share) };
      const own = this.#own;
      const last = isOutcome ? this.#last : undefined;
      const again = last && keptStep(decide, own, last.kept, last.now, limit);
      // The store may repeat the step: then with the same knowledge.
      const found =
        again && again.state === last.kept
          ? again.result
          : await store.change(key, (kept, now, part) =>
              keptStep(decide, own, kept, now, { ...limit, periodMs: periodMs / part }),
            );
      this.#own = found.own;
      this.#last = found;
      return found.result;
    });
    this.#lastStep = done.catch(() => {});
    return done;
  }
}
