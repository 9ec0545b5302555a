import { randomBytes } from "node:crypto";
import type { EmulatorClock } from "../clock.js";

/** Who a token speaks for: a client itself, or a user of a public client. */
export interface Grant {
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly subject: "client" | "user" | "customer";
}

/** A code of the authorization address, good for one exchange. */
export interface CodeGrant extends Grant {
  readonly redirectUri: string;
  readonly challenge: string;
}

interface Expiring<T> {
  readonly value: T;
  readonly until: number;
}

const codeLifetimeMs = 600_000;
/** Expired tokens are swept when so many have been given out since. */
const sweepEvery = 1_000;

/** Access tokens and authorization codes that are good now. */
export class Tokens {
  readonly #clock: EmulatorClock;
  readonly #grants = new Map<string, Expiring<Grant>>();
  readonly #codes = new Map<string, Expiring<CodeGrant>>();
  issued = 0;

  constructor(clock: EmulatorClock) {
    this.#clock = clock;
  }

  issue(grant: Grant, lifetimeMs: number): string {
    this.issued += 1;
    if (this.issued % sweepEvery === 0) this.#sweep();
    const token = randomBytes(24).toString("base64url");
    this.#grants.set(token, { value: grant, until: this.#clock.now() + lifetimeMs });
    return token;
  }

  grantOf(token: string): Grant | undefined {
    const found = this.#grants.get(token);
    return found && found.until > this.#clock.now() ? found.value : undefined;
  }

  issueCode(grant: CodeGrant): string {
    const code = randomBytes(24).toString("base64url");
    this.#codes.set(code, { value: grant, until: this.#clock.now() + codeLifetimeMs });
    return code;
  }

  /** Gives a code's grant out once. */
  redeem(code: string): CodeGrant | undefined {
    const found = this.#codes.get(code);
    this.#codes.delete(code);
    return found && found.until > this.#clock.now() ? found.value : undefined;
  }

  #sweep(): void {
    const now = this.#clock.now();
    for (const [token, { until }] of this.#grants) if (until <= now) this.#grants.delete(token);
    for (const [code, { until }] of this.#codes) if (until <= now) this.#codes.delete(code);
  }
}
