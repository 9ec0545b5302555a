import { randomBytes } from "node:crypto";
import { HttpError, type ServiceResponse } from "../http/exchange.js";
import type { EmulatorClock } from "./clock.js";

/** The subject of a token: a client itself, or a user of a public client. */
export interface TokenClaims {
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly subject: "client" | "user";
}

/** What an authorization code is exchanged for, once. */
interface CodeClaims extends TokenClaims {
  readonly redirectUri: string;
  readonly challenge: string;
}

/** Values under random keys, until they expire. */
class ExpiringKeys<T> {
  readonly #values = new Map<string, { readonly value: T; readonly until: number }>();

  constructor(private readonly clock: EmulatorClock) {}

  add(value: T, lifetimeMs: number): string {
    const now = this.clock.now();
    // Callers that fetch a token for every call must not fill the memory.
    for (const [key, { until }] of this.#values) {
      if (until > now) break;
      this.#values.delete(key);
    }
    const key = randomBytes(24).toString("base64url");
    this.#values.set(key, { value, until: now + lifetimeMs });
    return key;
  }

  get(key: string): T | undefined {
    const found = this.#values.get(key);
    return found && found.until > this.clock.now() ? found.value : undefined;
  }

  delete(key: string): void {
    this.#values.delete(key);
  }
}

const codeLifetimeMs = 600_000;

/** The valid access tokens and authorization codes. */
export class Tokens {
  readonly #tokens: ExpiringKeys<TokenClaims>;
  readonly #codes: ExpiringKeys<CodeClaims>;
  issued = 0;

  constructor(clock: EmulatorClock) {
    this.#tokens = new ExpiringKeys(clock);
    this.#codes = new ExpiringKeys(clock);
  }

  issue(claims: TokenClaims, lifetimeMs: number): string {
    this.issued += 1;
    return this.#tokens.add(claims, lifetimeMs);
  }

  issueCode(claims: CodeClaims): string {
    return this.#codes.add(claims, codeLifetimeMs);
  }

  /** Returns a code's claims, but only once. */
  redeem(code: string): CodeClaims | undefined {
    const claims = this.#codes.get(code);
    this.#codes.delete(code);
    return claims;
  }

  /**
   * Returns the claims of a call's bearer token.
   *
   * @param authorization the header
   * @throws HttpError if there is no valid token
   */
  authenticate(authorization = ""): TokenClaims {
    const [, token = ""] = /^bearer +(\S+)$/i.exec(authorization.trim()) ?? [];
    const claims = this.#tokens.get(token);
    if (claims) return claims;
    const message = "The token in the Authorization header is missing, invalid, or expired.";
    throw new HttpError(401, "401-104", message, [], { "www-authenticate": "Bearer" });
  }
}

/** Scopes by their label in the specification (§4, §5.1). */
export const scopesByLabel = {
  M: "app.conversation.conversationmgr.manage",
  R: "app.conversation.conversationmgr.read",
  IM: "app.conversation.conversationmgr.interaction.manage",
  IR: "app.conversation.conversationmgr.interaction.read",
} as const;

export type ScopeLabel = keyof typeof scopesByLabel;

/**
 * Checks that these claims allow a call.
 *
 * @param labels any one of these scopes suffices
 * @throws HttpError if they do not allow it
 */
export const assertScope = ({ subject, scopes }: TokenClaims, labels: readonly ScopeLabel[]) => {
  if (subject !== "client")
    throw new HttpError(403, "403-112", "Users must not call this operation; it is for servers.");
  const enough = labels.map((label) => scopesByLabel[label]);
  if (!enough.some((scope) => scopes.includes(scope)))
    throw new HttpError(403, "403-197", `The token lacks the scope ${enough.join(" or ")}.`);
};

/** The plans that a tenant can have; `none` means no limits. */
export const planNames = ["developer", "basic", "enterprise", "none"] as const;
/** A tenant's plan. */
export type PlanName = (typeof planNames)[number];

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
}

/** A token that falls short only by rounding counts. */
const tolerance = 1e-9;

/**
 * The token buckets, one for each method and path template, shared by all callers (specification
 * §8.1).
 */
export class RateLimiter {
  readonly #buckets = new Map<string, { readonly tokens: number; readonly at: number }>();

  constructor(private readonly options: RateLimiterOptions) {}

  get plan(): PlanName {
    return this.options.plan;
  }

  /** Fills every bucket. */
  reset(): void {
    this.#buckets.clear();
  }

  /** The current state of an endpoint's bucket; undefined if the plan has no limits. */
  level(endpoint: string): BucketLevel | undefined {
    const { plan, clock } = this.options;
    if (plan === "none") return undefined;
    const { rate, burst: usual } = limits[plan][special.has(endpoint) ? "special" : "standard"];
    const burst = this.options.burst ?? usual;
    const now = clock.now();
    const bucket = this.#buckets.get(endpoint) ?? { tokens: burst, at: now };
    const refilled = bucket.tokens + ((now - bucket.at) * rate) / 1000;
    return { endpoint, rate, burst, tokens: Math.min(burst, refilled) };
  }

  /**
   * Takes a token and returns undefined, or returns the refusal if the call exceeds the rate. A
   * refused call takes nothing.
   */
  refusal(endpoint: string): ServiceResponse | undefined {
    const level = this.level(endpoint);
    if (!level) return undefined;
    const { tokens } = level;
    if (tokens < 1 - tolerance) return { status: 429, body: tooManyRequests };
    this.#buckets.set(endpoint, {
      tokens: Math.max(0, tokens - 1),
      at: this.options.clock.now(),
    });
    return undefined;
  }
}
