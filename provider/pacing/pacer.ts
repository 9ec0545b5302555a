import { createHash } from "node:crypto";
import type { Clock } from "../service/clock.js";
import { type Endpoint, endpointName } from "../service/operations.js";
import { type Pace, type Wait, waitOutRefusals } from "../service/pace.js";
import type { Plan } from "../service/plans.js";
import { tokenEndpoint } from "../service/token-call.js";
import type { BucketState } from "./buckets.js";
import { EndpointBucket } from "./endpoint-bucket.js";
import { EndpointQueue } from "./endpoint-queue.js";
import { memoryBuckets } from "./memory-buckets.js";
import { PlanGuess } from "./plan-guess.js";
import { rateOf } from "./plan-rates.js";

/** Calls per second that an endpoint allows on a plan. */
export type RateTable = (endpoint: Endpoint, plan: Plan) => number;

export interface PacingOptions {
  readonly clock: Clock;
  /** Whose buckets these are: the base address of the service. Kept as a hash only. */
  readonly tenant: string;
  /** Left out: the highest, stepping down while calls are refused again and again. */
  readonly plan?: Plan;
  /** Calls that an endpoint takes in a spike. Left out: found out. */
  readonly burst?: number;
  /**
   * Part of each limit that may be used, above 0, at most 1. Below 1 also a spike is kept to that
   * part of `burst`, or to one call where `burst` is left out.
   */
  readonly share: number;
  /** Where the buckets are kept. Default: in this process. */
  readonly state?: BucketState;
  /**
   * A call has to wait for more than 2 seconds; told again every 10 seconds with the time left. Runs
   * in the caller's own asynchronous context.
   */
  readonly onWait?: (wait: Wait) => void;
  /** Told once which plan a tenant without a configured one seems to have, if not the highest. */
  readonly onPlanGuess?: (plan: Plan) => void;
  /** Longest time for one call to get through after its first refusal. Default: one hour. */
  readonly totalMs?: number;
  /** Rates of the endpoints. Default: Conversation v3 (specification §8.2). */
  readonly rates?: RateTable;
}

const hourMs = 60 * 60_000;
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

const isToken = (endpoint: Endpoint): boolean =>
  endpoint.method === tokenEndpoint.method && endpoint.template === tokenEndpoint.template;

/** Makes the queue of one endpoint. */
const queues = (options: PacingOptions): ((endpoint: Endpoint) => EndpointQueue) => {
  const { clock, share, burst, totalMs = hourMs, rates = conversationRates } = options;
  const state = options.state ?? memoryBuckets(() => clock.now());
  const guess = options.plan ? undefined : new PlanGuess(harmless(options.onPlanGuess));
  const plan = (): Plan => options.plan ?? guess?.plan ?? "enterprise";
  const say = harmless(options.onWait);
  const tenant = tenantKey(options.tenant);
  return ({ method, template }) => {
    const endpoint: Endpoint = { method, template };
    const name = endpointName(endpoint);
    const bucket = new EndpointBucket({
      clock,
      state,
      key: `${tenant}:${name}`,
      rate: () => rates(endpoint, plan()) * share,
      share,
      ...(burst === undefined ? {} : { burst }),
      onRefused: () => guess?.refused(name),
      onAccepted: () => guess?.accepted(name),
    });
    const onWait = (news: { queued: number; waitMs: number }) => say({ ...endpoint, ...news });
    return new EndpointQueue({ endpoint, clock, bucket, totalMs, onWait });
  };
};

/**
 * Keeps calls within the rate limits of the tenant: one bucket for each method and path template,
 * each with its own queue, so that only the endpoint that is short of tokens waits. A call that is
 * refused all the same waits for its next turn, before new ones; a refusal is no failure. Fetching a
 * token is not limited, only repeated after 1, 2, 4, 8, 16 seconds.
 */
export const pacedCalls = (options: PacingOptions): Pace => {
  const { clock, totalMs = hourMs } = options;
  const say = harmless(options.onWait);
  const onWait = (wait: Wait): void => (wait.waitMs > shortMs ? say(wait) : undefined);
  const tokenCalls = waitOutRefusals({ clock, totalMs, onWait });
  const queueFor = queues(options);
  const known = new Map<string, EndpointQueue>();
  return (endpoint, attempt, signal) => {
    if (isToken(endpoint)) return tokenCalls(endpoint, attempt, signal);
    const name = endpointName(endpoint);
    let queue = known.get(name);
    if (!queue) {
      queue = queueFor(endpoint);
      known.set(name, queue);
    }
    return queue.run(attempt, signal);
  };
};
