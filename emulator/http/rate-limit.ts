import type { EmulatorClock } from "../service/clock.js";
import type { Switches } from "../service/switches.js";
import type { ResponseHeaders, ServiceResponse } from "./exchange.js";

/** The plans that a tenant can have; `none` means no limits. */
export const planNames = ["developer", "basic", "enterprise", "none"] as const;
/** A tenant's plan. */
export type PlanName = (typeof planNames)[number];

/** Calls per second on the Developer, Basic, and Enterprise plans. */
export type SiblingRates = readonly [developer: number, basic: number, enterprise: number];

interface Limit {
  /** Calls per second. */
  readonly rate: number;
  readonly burst: number;
}

/**
 * Rates: specification §8.2. Bursts: the vendor's documentation. Independent on purpose: with the
 * provider's table a number that is wrong there would look right here.
 */
const limits: Readonly<
  Record<Exclude<PlanName, "none">, { readonly standard: Limit; readonly special: Limit }>
> = {
  developer: { standard: { rate: 0.16, burst: 1 }, special: { rate: 0.16, burst: 1 } },
  basic: { standard: { rate: 0.5, burst: 2 }, special: { rate: 1, burst: 3 } },
  enterprise: { standard: { rate: 1, burst: 30 }, special: { rate: 5, burst: 15 } },
};

/** The endpoints with a rate of their own: specification §8.2. */
const special = new Set([
  "POST /conversations/messages",
  "GET /conversations/{id}",
  "POST /assets",
  "GET /assets/{id}",
]);

/** The body of a rate-limit refusal, verbatim (specification §7). */
export const tooManyRequests = { code: "429-001", developerMessage: "Too many requests." } as const;

/** Bursts: as in the conversation service (assumed). */
const siblingLimit = (rates: SiblingRates, plan: Exclude<PlanName, "none">): Limit => {
  const [developer, basic, enterprise] = rates;
  const rate = { developer, basic, enterprise }[plan];
  return { rate, burst: limits[plan].standard.burst };
};

/**
 * Callers that make up paths must not fill the memory: beyond this many, the least recently used
 * bucket is forgotten.
 */
const mostBuckets = 5_000;

/** The state of an endpoint's token bucket. */
export interface BucketLevel {
  /** The endpoint, such as `GET /channels`. */
  readonly endpoint: string;
  /** Tokens added per second. */
  readonly rate: number;
  /** Maximum number of tokens. */
  readonly burst: number;
  readonly tokens: number;
}

interface RateLimiterOptions {
  readonly plan: PlanName;
  readonly burst: number | undefined;
  readonly clock: EmulatorClock;
  readonly switches: Switches;
}

/** A token that falls short only by rounding counts. */
const tolerance = 1e-9;

const wholeSeconds = (ms: number): number => Math.ceil(ms / 1000);

/**
 * The token buckets, one for each method and path template, shared by all callers (specification
 * §8.1).
 */
export class RateLimiter {
  readonly #buckets = new Map<string, { readonly tokens: number; readonly at: number }>();

  constructor(private readonly options: RateLimiterOptions) {}

  /**
   * Takes a token and returns undefined, or returns the refusal if the call exceeds the rate.
   *
   * @param rates of an endpoint of another service; if omitted, those of the conversation service
   */
  refusal(endpoint: string, rates?: SiblingRates): ServiceResponse | undefined {
    const waitMs = this.#take(endpoint, rates);
    if (waitMs === 0) return undefined;
    return { status: 429, body: tooManyRequests, headers: this.#retryAfter(waitMs) };
  }

  get plan(): PlanName {
    return this.options.plan;
  }

  /** Fills every bucket. */
  reset(): void {
    this.#buckets.clear();
  }

  /** The current state of an endpoint's bucket; undefined if the plan has no limits. */
  level(endpoint: string, rates?: SiblingRates): BucketLevel | undefined {
    const { plan, clock } = this.options;
    if (plan === "none") return undefined;
    const { rate, burst: usual } = rates
      ? siblingLimit(rates, plan)
      : limits[plan][special.has(endpoint) ? "special" : "standard"];
    const burst = this.options.burst ?? usual;
    const now = clock.now();
    const bucket = this.#buckets.get(endpoint) ?? { tokens: burst, at: now };
    const refilled = bucket.tokens + (Math.max(0, now - bucket.at) * rate) / 1000;
    return { endpoint, rate, burst, tokens: Math.min(burst, refilled) };
  }

  /**
   * Takes a token and returns 0. If there is no token, returns the number of milliseconds until the
   * next one.
   */
  #take(endpoint: string, rates: SiblingRates | undefined): number {
    const { clock, switches } = this.options;
    const level = this.level(endpoint, rates);
    if (!level) return 0;
    const { tokens, rate } = level;
    const isThere = tokens >= 1 - tolerance;
    const left = isThere || switches.refusedCosts ? Math.max(0, tokens - 1) : tokens;
    this.#buckets.delete(endpoint);
    this.#buckets.set(endpoint, { tokens: left, at: clock.now() });
    if (this.#buckets.size > mostBuckets) this.#forgetOldest();
    return isThere ? 0 : ((1 - left) / rate) * 1000;
  }

  #forgetOldest(): void {
    const [oldest = ""] = this.#buckets.keys();
    this.#buckets.delete(oldest);
  }

  #retryAfter(waitMs: number): ResponseHeaders {
    const { clock, switches } = this.options;
    switch (switches.retryAfter) {
      case "seconds":
        return { "retry-after": String(wholeSeconds(waitMs)) };
      case "date": {
        // The form has no milliseconds; a date rounded down would come before the token.
        const until = wholeSeconds(clock.now() + waitMs) * 1000;
        return { "retry-after": new Date(until).toUTCString() };
      }
      default:
        return {};
    }
  }
}
