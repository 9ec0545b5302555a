import { randomBytes } from "node:crypto";
import type { EmulatorClock } from "../clock.js";
import { HttpError } from "../http/response.js";

/** Who a token speaks for: a client itself, or a user of a public client. */
export interface TokenClaims {
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly subject: "client" | "user" | "customer";
}

/** What an authorization code is exchanged for, once. */
export interface CodeClaims extends TokenClaims {
  readonly redirectUri: string;
  readonly challenge: string;
}

interface Expiring<T> {
  readonly value: T;
  readonly until: number;
}

const codeLifetimeMs = 600_000;
/** Expired ones are swept when so many have been given out since. */
const sweepEvery = 1_000;
/** Whoever asks for a token with every call fills no memory: beyond so many the oldest end early. */
const mostKept = 50_000;

/** Access tokens and authorization codes that are good now. */
export class Tokens {
  readonly #tokens = new Map<string, Expiring<TokenClaims>>();
  readonly #codes = new Map<string, Expiring<CodeClaims>>();
  issued = 0;
  #sinceSweep = 0;

  constructor(private readonly clock: EmulatorClock) {}

  issue(claims: TokenClaims, lifetimeMs: number): string {
    this.issued += 1;
    return this.#keep(this.#tokens, claims, lifetimeMs);
  }

  issueCode(claims: CodeClaims): string {
    return this.#keep(this.#codes, claims, codeLifetimeMs);
  }

  /** Gives the claims of a code out once. */
  redeem(code: string): CodeClaims | undefined {
    const claims = this.#good(this.#codes, code);
    this.#codes.delete(code);
    return claims;
  }

  /**
   * The claims of a call's bearer token.
   *
   * @param authorization the header
   * @throws HttpError where there is none that is good now
   */
  authenticate(authorization = ""): TokenClaims {
    const [scheme = "", token = "", ...more] = authorization.trim().split(/ +/);
    const isBearer = scheme.toLowerCase() === "bearer" && more.length === 0;
    const claims = isBearer ? this.#good(this.#tokens, token) : undefined;
    if (claims) return claims;
    const message = "The Authorization header is missing, invalid or expired.";
    throw new HttpError(401, "401-104", message, [], { "www-authenticate": "Bearer" });
  }

  #keep<T>(all: Map<string, Expiring<T>>, value: T, lifetimeMs: number): string {
    this.#sinceSweep += 1;
    if (this.#sinceSweep >= sweepEvery) this.#sweep();
    const [oldest = ""] = all.size >= mostKept ? all.keys() : [];
    all.delete(oldest);
    const key = randomBytes(24).toString("base64url");
    all.set(key, { value, until: this.clock.now() + lifetimeMs });
    return key;
  }

  #good<T>(all: ReadonlyMap<string, Expiring<T>>, key: string): T | undefined {
    const found = all.get(key);
    return found && found.until > this.clock.now() ? found.value : undefined;
  }

  #sweep(): void {
    this.#sinceSweep = 0;
    const now = this.clock.now();
    for (const all of [this.#tokens, this.#codes])
      for (const [key, { until }] of all) if (until <= now) all.delete(key);
  }
}
