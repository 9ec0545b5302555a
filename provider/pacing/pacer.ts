import { hash } from "node:crypto";
import { type Clock, systemClock } from "../kernel/clock.js";
import { assertInstalled } from "../kernel/package.js";
import type { Pace, Wait } from "../service/pace.js";
import { type Plan, plans } from "../service/plans.js";
import { type Settings, settingLabel } from "../service/settings.js";
import { tokenEndpoint } from "../service/token.js";
import type { Endpoint } from "../service/transport.js";
import { type RateLimit, shareLimit } from "./bucket.js";
import {
  type BucketStore,
  bucketFilePath,
  fileBuckets,
  memoryBuckets,
  withLocalBuckets,
} from "./bucket-store.js";
import { EndpointQueue } from "./endpoint-queue.js";
import { conversationLimits, type EndpointLimit, type PlanLimits } from "./plan-rates.js";
import { redisBuckets, redisRefusal } from "./redis-buckets.js";

/** Pacing callbacks, which must not fail. */
interface PacingHooks {
  /** As for the queue of each endpoint. */
  readonly onWait?: ((wait: Wait) => void) | undefined;
  /**
   * Called with the apparent plan of a tenant without a configured one, each time that it turns out
   * to be lower.
   */
  readonly onPlanGuess?: ((plan: Plan) => void) | undefined;
}

/** The settings of these names, and where they apply. */
export interface PacingOptions extends PacingHooks {
  readonly clock: Clock;
  /** The service's base URL, which identifies the owner of these buckets. Stored only as a hash. */
  readonly tenant: string;
  /** If omitted, the highest plan at first, and one step down after repeated refusals. */
  readonly plan?: Plan | undefined;
  /** At {@link unlimitedBurst} or more, calls wait only after a refusal. */
  readonly burst?: number | undefined;
  readonly share: number;
  /** Store for the buckets. Default: the memory of this process. */
  readonly store?: BucketStore;
  /** What the service allows on each plan. Default: Conversation v3 (specification §8.2). */
  readonly limits?: ((plan: Plan) => PlanLimits) | undefined;
}

/** A burst that no run can use up: a service that allows it has no effective limit. */
export const unlimitedBurst = 1_000_000;

/** Without a known rate, only the pauses after refusals hold calls back. */
const noLimit: RateLimit = { periodMs: 0, burst: 1 };

/** Returns a pace with one queue per endpoint, created on the first call to the endpoint. */
const queueByEndpoint =
  (
    openQueue: (endpoint: Endpoint, name: string) => EndpointQueue,
    queues = new Map<string, EndpointQueue>(),
  ): Pace =>
  ({ method, template }, attempt, signal) => {
    const name = `${method} ${template}`;
    let queue = queues.get(name);
    if (!queue) {
      queue = openQueue({ method, template }, name);
      queues.set(name, queue);
    }
    return queue.run(attempt, signal);
  };

/**
 * Returns a pace for unknown rates: calls are sent immediately, but after a 429, further calls to
 * the same endpoint are held back, while calls to others continue. The wait is the time in
 * Retry-After if there is one, otherwise 1, 2, 4, 8, 16 s (specification §8.1 rule 6).
 */
export const waitOutRefusals = ({
  clock = systemClock,
  onWait,
}: Pick<PacingHooks, "onWait"> & { readonly clock?: Clock | undefined } = {}): Pace => {
  const store = memoryBuckets(clock);
  return queueByEndpoint(
    (endpoint, key) => new EndpointQueue(endpoint, noLimit, { clock, store, key, onWait }),
  );
};

/** Returns the limits on a plan, by the name of the endpoint; those of its placeholders do not matter. */
const limitsOn = (
  { burst, share, limits = conversationLimits }: PacingOptions,
  plan: Plan,
): ((name: string) => RateLimit) => {
  const { standard, own = {} } = limits(plan);
  const shared = (limit: EndpointLimit): RateLimit =>
    shareLimit({ ...limit, burst: burst ?? limit.burst }, share);
  const usual = shared(standard);
  const special = new Map(Object.entries(own).map(([name, limit]) => [name, shared(limit)]));
  return (name) => special.get(name.replace(/\{[^{}]*\}/g, "{id}")) ?? usual;
};

/**
 * Keeps calls within the tenant's rate limits. Each combination of method and path template has its
 * own bucket and queue, so only calls to an endpoint without tokens wait. A refused call is not a
 * failure: it waits for its next turn, ahead of new calls. The token URL has no known rate, so
 * calls to it wait only after a refusal.
 */
export const pacedCalls = (options: PacingOptions): Pace => {
  const { clock, plan, burst, onWait, onPlanGuess } = options;
  const unpaced = waitOutRefusals({ clock, onWait });
  if (burst !== undefined && burst >= unlimitedBurst) return unpaced;
  const store = options.store ?? memoryBuckets(clock);
  // Others can read the store.
  const tenant = hash("sha256", options.tenant).slice(0, 16);
  const queues = new Map<string, EndpointQueue>();
  let current = plan ?? "enterprise";
  let limitOf = limitsOn(options, current);
  /** To the next plan that allows less on the endpoint, if there is one. */
  const stepDown = (name: string): void => {
    const lower = plans
      .slice(0, plans.indexOf(current))
      .findLast((other) => limitsOn(options, other)(name).periodMs > limitOf(name).periodMs);
    if (lower === undefined) return;
    current = lower;
    limitOf = limitsOn(options, lower);
    for (const [each, queue] of queues) queue.limit = limitOf(each);
    onPlanGuess?.(lower);
  };
  const paced = queueByEndpoint((endpoint, name) => {
    const onRefusals = (): void => (plan === undefined ? stepDown(name) : undefined);
    const shared = { clock, store, key: `${tenant}:${name}`, onWait, onRefusals };
    return new EndpointQueue(endpoint, limitOf(name), shared);
  }, queues);
  return (endpoint, attempt, signal) =>
    endpoint.template === tokenEndpoint.template
      ? unpaced(endpoint, attempt, signal)
      : paced(endpoint, attempt, signal);
};

/** Pacing for one tenant's services, and the store for their buckets. */
export interface ServicePaces {
  /** Limits: as for one service. */
  pace(service: { readonly baseUrl: string } & Pick<PacingOptions, "limits">): Pace;
  /** Releases the store, because a connection to Redis would keep the process alive. */
  close(): Promise<void>;
}

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
}

interface ServicePacesOptions extends PacingHooks, Omit<SharedBucketsOptions, "redisUrl"> {
  /** Default: shared with other processes and within this one, see {@link sharedBuckets}. */
  readonly buckets?: BucketStore | undefined;
}

/** Returns the pacing for a tenant's services. Opens the store only on the first call. */
export const servicePaces = (settings: Settings, options: ServicePacesOptions): ServicePaces => {
  const { plan, burst, share, redisUrl } = settings;
  const { clock, onWait, onPlanGuess, onNotice, environment } = options;
  const store = options.buckets ?? sharedBuckets({ clock, redisUrl, onNotice, environment });
  const shared = { clock, store, plan, burst, share, onWait, onPlanGuess };
  return {
    pace: ({ baseUrl, limits }) => pacedCalls({ ...shared, tenant: baseUrl, limits }),
    close: () => store.close(),
  };
};

/**
 * From this version on Node's SQLite prints no warning, which would end up in the engine's display.
 */
const firstQuietMajor = 24;

/**
 * Returns the bucket store: Redis if a URL is given; otherwise, a file in the cache folder or,
 * before Node.js 24, the memory of this process. Opens the store only on the first call.
 *
 * @throws ConversationError `SETTINGS_INVALID` if the package for Redis is needed and missing
 */
export const sharedBuckets = (options: SharedBucketsOptions): BucketStore => {
  const { clock, redisUrl, environment = process.env, onNotice } = options;
  const shareThrough = (store: BucketStore, why: (error: unknown) => string): BucketStore =>
    withLocalBuckets(store, clock, (error) =>
      onNotice?.(`The rate limits are not shared with other processes for now: ${why(error)}.`),
    );
  if (redisUrl !== undefined) {
    assertInstalled(
      "ioredis",
      `${settingLabel("redisUrl")} is set to share the rate limits through Redis`,
    );
    return shareThrough(redisBuckets(redisUrl), (error) => {
      const said = redisRefusal(redisUrl, error);
      return said === undefined ? "could not reach Redis" : `Redis refused it (${said})`;
    });
  }
  if (Number.parseInt(process.versions.node, 10) < firstQuietMajor) return memoryBuckets(clock);
  const path = bucketFilePath(environment);
  return shareThrough(
    fileBuckets(path),
    (error) => `could not use ${path} (${error instanceof Error ? error.message : "unknown"})`,
  );
};
