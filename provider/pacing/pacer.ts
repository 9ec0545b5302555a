import { hash } from "node:crypto";
import { type Clock, systemClock } from "../kernel/clock.js";
import { type Endpoint, endpointName, type Pace, type Wait } from "../service/pace.js";
import { type Plan, plans } from "../service/plans.js";
import type { Settings } from "../service/settings.js";
import { tokenEndpoint } from "../service/token.js";
import { type RateLimit, shareLimit } from "./bucket.js";
import { type BucketStore, memoryBuckets, withLocalBuckets } from "./bucket-store.js";
import { EndpointQueue, type QueueOptions } from "./endpoint-queue.js";
import { bucketFilePath, fileBuckets } from "./file-buckets.js";
import { conversationLimit, type EndpointLimit } from "./plan-rates.js";
import { assertRedisPackage, redisBuckets, redisNeed, redisRefusal } from "./redis-buckets.js";

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
   * The tenant's plan. If omitted, the pacer starts with the highest plan, and steps down while
   * calls are refused.
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

/** Returns a pace with one queue per endpoint, created on the first call to the endpoint. */
const queueByEndpoint = (optionsFor: (endpoint: Endpoint) => QueueOptions): Pace => {
  const queues = new Map<string, EndpointQueue>();
  return (endpoint, attempt, signal) => {
    const name = endpointName(endpoint);
    let queue = queues.get(name);
    if (!queue) {
      const { method, template } = endpoint;
      queue = new EndpointQueue({ method, template }, optionsFor({ method, template }));
      queues.set(name, queue);
    }
    return queue.run(attempt, signal);
  };
};

/** Without a known rate, only the pauses after refusals hold calls back. */
const noLimit: RateLimit = { periodMs: 0, burst: 1 };

/** The queue options of an endpoint with an unknown rate; it covers only this process. */
const unlimited = (clock: Clock) => ({
  clock,
  store: memoryBuckets(() => clock.now()),
  key: "",
  limit: () => noLimit,
});

/**
 * Returns a pace for unknown rates: calls are sent immediately, but after a 429, further calls to
 * the same endpoint are held back, while calls to others continue. The wait is the time in
 * Retry-After if there is one, otherwise 1, 2, 4, 8, 16 s (specification §8.1 rule 6).
 */
export const waitOutRefusals = ({
  clock = systemClock,
  onWait,
}: {
  readonly clock?: Clock | undefined;
  readonly onWait?: ((wait: Wait) => void) | undefined;
} = {}): Pace => queueByEndpoint(() => ({ ...unlimited(clock), onWait }));

/** Refusals on an endpoint are forgotten after this many successful calls in a row. */
const settledAfter = 4;

/** Refusals that disprove the assumed plan. */
const mostRefusals = 3;

/** Refusals that cast doubt on a configured plan: other programs also cause them. */
const mostConfiguredRefusals = 20;

/** The tenant's plan, which all its endpoints share: as configured, or found out. */
class TenantPlan {
  current: Plan;
  readonly #options: PacingOptions;
  #isReported = false;

  constructor(options: PacingOptions) {
    this.#options = options;
    this.current = options.plan ?? "enterprise";
  }

  /** Returns a listener for the answers of one endpoint. @param limitOn its limit on each plan */
  watch(limitOn: (plan: Plan) => RateLimit): QueueOptions["onAnswer"] {
    let [refusals, accepted, plan] = [0, 0, this.current];
    return (answer) => {
      if (plan !== this.current) [refusals, accepted, plan] = [0, 0, this.current];
      accepted = answer === "accepted" ? accepted + 1 : 0;
      if (answer === "refused") refusals += 1;
      if (accepted >= settledAfter) {
        refusals = 0;
        this.#reportGuess();
      }
      if (answer === "accepted") return;
      const lower = plans
        .slice(0, plans.indexOf(plan))
        .findLast((other) => limitOn(other).periodMs > limitOn(plan).periodMs);
      if (lower === undefined) return;
      if (this.#options.plan === undefined && refusals >= mostRefusals) this.current = lower;
      if (this.#options.plan !== undefined && refusals >= mostConfiguredRefusals)
        this.#reportDoubt();
    };
  }

  #reportGuess(): void {
    if (this.#isReported || this.#options.plan !== undefined || this.current === "enterprise")
      return;
    this.#isReported = true;
    harmless(this.#options.onPlanGuess)?.(this.current);
  }

  #reportDoubt(): void {
    if (this.#isReported) return;
    this.#isReported = true;
    harmless(this.#options.onNotice)?.(
      `The service repeatedly refuses calls at the rates of the configured ${this.current} plan. Other programs use the tenant's limits, or the tenant is on a lower plan: check the plan setting.`,
    );
  }
}

const isToken = ({ method, template }: Endpoint): boolean =>
  method === tokenEndpoint.method && template === tokenEndpoint.template;

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
  const plan = new TenantPlan(options);
  const isUnlimited = burst !== undefined && burst >= unlimitedBurst;
  const shared = { totalMs, announcedMs: shortMs, onWait: harmless(options.onWait) };
  return queueByEndpoint((endpoint) => {
    if (isToken(endpoint) || isUnlimited) return { ...unlimited(clock), ...shared };
    // The queue asks several times for each call.
    const limitByPlan = new Map<Plan, RateLimit>();
    const limitOn = (on: Plan): RateLimit => {
      const known = limitByPlan.get(on);
      if (known) return known;
      const { rate, burst: documented } = limits(endpoint, on);
      const limit = shareLimit({ rate, burst: burst ?? documented }, share);
      limitByPlan.set(on, limit);
      return limit;
    };
    return {
      clock,
      store,
      ...shared,
      key: `${tenant}:${endpointName(endpoint)}`,
      limit: () => limitOn(plan.current),
      onAnswer: plan.watch(limitOn),
    };
  });
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

interface SharedBucketsOptions {
  readonly clock: Clock;
  /**
   * URL of Redis. If omitted, the buckets are shared at most among this user's processes on this
   * machine.
   */
  readonly redisUrl?: string | undefined;
  /** Where to look up XDG_CACHE_HOME. Default: the process environment. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Called once, with a readable sentence, when the buckets temporarily cannot be shared. */
  readonly onNotice?: ((text: string) => void) | undefined;
  /** Version of Node.js. Default: the running version. */
  readonly nodeVersion?: string;
}

/**
 * From this version on Node's SQLite prints no warning, which would end up in the engine's display.
 */
const firstQuietMajor = 24;

/** Time until a lost store is tried again, in milliseconds: Redis usually returns within seconds. */
const redisAgainMs = 2_000;
const fileAgainMs = 5_000;

/** Machines that lose Redis do not see each other: assume that there are two. */
const aloneShare = 0.5;

/** One store for all profiles of a process, because they may belong to the same tenant. */
const inProcess = new WeakMap<Clock, BucketStore>();

/**
 * Returns the bucket store: Redis if a URL is given; otherwise, a file in the cache folder or,
 * before Node.js 24, the memory of this process. Opens the store only on the first call.
 *
 * @throws ConversationError `SETTINGS_INVALID` if the package for Redis is needed and missing
 */
export const sharedBuckets = (options: SharedBucketsOptions): BucketStore => {
  const { clock, redisUrl, environment = process.env, onNotice } = options;
  const now = (): number => clock.now();
  const local = inProcess.get(clock) ?? memoryBuckets(now);
  inProcess.set(clock, local);
  if (redisUrl !== undefined) {
    assertRedisPackage(redisNeed());
    const onLost = (error: unknown): void => {
      const said = redisRefusal(redisUrl, error);
      onNotice?.(
        said === undefined
          ? "Could not reach Redis to share the rate limits. Until it is available again, this process uses half of each rate."
          : `Redis refused to share the rate limits (${said}). Until this is fixed, this process uses half of each rate.`,
      );
    };
    const fallback = { local, share: aloneShare, now, againMs: redisAgainMs, onLost };
    return withLocalBuckets(redisBuckets(redisUrl), fallback);
  }
  const version = options.nodeVersion ?? process.versions.node;
  if (Number.parseInt(version, 10) < firstQuietMajor) return local;
  const path = bucketFilePath(environment);
  const onLost = (error: unknown): void =>
    onNotice?.(
      `The rate limits are not shared with other processes for now: could not use ${path} (${error instanceof Error ? error.message : "unknown"}).`,
    );
  const fallback = { local, share: 1, now, againMs: fileAgainMs, onLost };
  return withLocalBuckets(fileBuckets(path), fallback);
};
