import { hash, timingSafeEqual } from "node:crypto";
import { isObject } from "../../provider/kernel/json.js";

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
   * @param own the client whose credentials the emulator shows. Its secret stays valid until it is
   * set again, even if a snapshot replaces it
   */
  constructor(own: Client) {
    this.#own = own;
    this.put(own);
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
    this.#clients.set(client.clientId, client);
    if (client.clientId === this.#own.clientId) this.#own = client;
  }

  all(): readonly Client[] {
    return [...this.#clients.values()];
  }

  replaceAll(clients: readonly Client[]): void {
    this.#clients.clear();
    for (const client of clients) this.#clients.set(client.clientId, client);
  }
}
