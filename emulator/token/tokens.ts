import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { isObject } from "../../provider/kernel/json.js";
import { HttpError } from "../http/exchange.js";
import type { EmulatorClock } from "../service/clock.js";
import type { Journal } from "../service/journal.js";

/** The subject of a token: a client itself, or a user of a public client. */
export interface TokenClaims {
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly subject: "client" | "user" | "customer";
}

/** What an authorization code is exchanged for, once. */
interface CodeClaims extends TokenClaims {
  readonly redirectUri: string;
  readonly challenge: string;
}

interface Expiring<T> {
  readonly value: T;
  readonly until: number;
}

const codeLifetimeMs = 600_000;
/** Expired ones are removed after this many new ones. */
const sweepEvery = 1_000;
/**
 * Callers that fetch a token for every call must not fill the memory: beyond this many, the oldest
 * end early.
 */
const mostKept = 50_000;

/** The valid access tokens and authorization codes. */
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

  /** Returns a code's claims, but only once. */
  redeem(code: string): CodeClaims | undefined {
    const claims = this.#good(this.#codes, code);
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
    const [scheme = "", token = "", ...more] = authorization.trim().split(/ +/);
    const isBearer = scheme.toLowerCase() === "bearer" && more.length === 0;
    const claims = isBearer ? this.#good(this.#tokens, token) : undefined;
    if (claims) return claims;
    const message = "The token in the Authorization header is missing, invalid, or expired.";
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

/**
 * A client that can request tokens: either a client with a secret or a public client with redirect
 * URIs.
 */
export interface Client {
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly public?: true;
  readonly redirectUris?: readonly string[];
  readonly scopes: readonly string[];
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((text) => typeof text === "string" && text !== "");

const isText = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= 1024;

/**
 * A redirect URI is absolute and has no fragment (RFC 6749 §3.1.2); it is sent in a header as
 * it is.
 */
const isRedirect = (text: string): boolean =>
  URL.canParse(text) && /^[\x21\x22\x24-\x7e]+$/.test(text);

/** Neither spaces nor quotes: scopes are sent as one text (RFC 6749 §3.3). */
const isScope = (text: string): boolean => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(text);

const known = new Set(["clientId", "clientSecret", "public", "redirectUris", "scopes"]);

/** Parses a client from a control call. @throws Error that describes what is wrong */
export const parseClient = (value: unknown): Client => {
  const shape =
    'A client has the form {"clientId", "clientSecret", "scopes": […]}, or {"clientId", "public": true, "redirectUris": […], "scopes": […]}.';
  if (!isObject(value)) throw new Error(shape);
  const { clientId, clientSecret, scopes, redirectUris } = value;
  const unknown = Object.keys(value).find((key) => !known.has(key));
  if (unknown !== undefined)
    throw new Error(`A client has no member ${unknown.slice(0, 60)}. ${shape}`);
  if (!isText(clientId) || !isTexts(scopes)) throw new Error(shape);
  if (!scopes.every(isScope))
    throw new Error(`A scope is one word without spaces, quotes, or backslashes. ${shape}`);
  if (value.public === true) {
    if (!isTexts(redirectUris) || redirectUris.length === 0 || clientSecret !== undefined)
      throw new Error(shape);
    if (!redirectUris.every(isRedirect))
      throw new Error(
        `redirectUris must be absolute, percent-encoded URLs without a fragment. ${shape}`,
      );
    return { clientId, public: true, redirectUris, scopes };
  }
  if (!isText(clientSecret) || redirectUris !== undefined || (value.public ?? false) !== false)
    throw new Error(shape);
  return { clientId, clientSecret, scopes };
};

const digest = (text: string): Buffer => hash("sha256", text, "buffer");

/** Whether two strings are equal. Compares them in constant time. */
export const isSameSecret = (a: string, b: string): boolean =>
  timingSafeEqual(digest(a), digest(b));

/** The clients that can request tokens. A reset does not remove them. */
export class Clients {
  readonly #clients = new Map<string, Client>();
  #own: Client;

  /**
   * @param own the client whose credentials the emulator shows: the first one if none is saved. Its
   * secret stays valid until it is set again, even if a snapshot replaces it
   */
  constructor(
    private readonly journal: Journal,
    own: Client,
  ) {
    for (const [id, value] of journal.read("client")) this.#clients.set(id, parseClient(value));
    const [saved] = journal.read("own client");
    this.#own = saved ? parseClient(saved[1]) : own;
    if (saved) return;
    journal.together(() => {
      journal.write("own client", own.clientId, own);
      this.put(own);
    });
  }

  /** The client whose credentials the emulator shows. */
  get own(): Client {
    return this.#own;
  }

  get(clientId: string): Client | undefined {
    return this.#clients.get(clientId);
  }

  /** The client with this ID and secret. Compares secrets in constant time. */
  withSecret(clientId: string, secret: string): Client | undefined {
    const own = this.#own.clientId === clientId ? this.#own : undefined;
    return [this.#clients.get(clientId), own].find((client) => {
      const fits = isSameSecret(secret, client?.clientSecret ?? "");
      return client?.clientSecret !== undefined && fits;
    });
  }

  /** Adds a client, or replaces the client with the same ID and invalidates its old secret. */
  put(client: Client): void {
    this.journal.together(() => {
      this.journal.write("client", client.clientId, client);
      if (client.clientId === this.#own.clientId)
        this.journal.write("own client", client.clientId, client);
      this.journal.whenKept(() => {
        this.#clients.set(client.clientId, client);
        if (client.clientId === this.#own.clientId) this.#own = client;
      });
    });
  }

  all(): readonly Client[] {
    return [...this.#clients.values()];
  }

  replaceAll(clients: readonly Client[]): void {
    this.journal.clear("client");
    for (const client of clients) this.journal.write("client", client.clientId, client);
    this.journal.whenKept(() => {
      this.#clients.clear();
      for (const client of clients) this.#clients.set(client.clientId, client);
    });
  }
}
