import { hash, timingSafeEqual } from "node:crypto";
import { z } from "zod";
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

const text = z.string().min(1).max(1024);

/** Sent as one text with the others (RFC 6749 §3.3). */
const scope = z
  .string()
  .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, "a scope is one word without quotes or backslashes");

/** Absolute and without a fragment (RFC 6749 §3.1.2): it is sent in a header as it is. */
const redirectUri = z
  .string()
  .refine(
    (uri) => URL.canParse(uri) && /^[\x21\x22\x24-\x7e]+$/.test(uri),
    "must be an absolute, percent-encoded URL without a fragment",
  );

const confidentialClient = z.strictObject({
  clientId: text,
  clientSecret: text,
  scopes: z.array(scope),
});

const publicClient = z.strictObject({
  clientId: text,
  public: z.literal(true),
  redirectUris: z.array(redirectUri).min(1),
  scopes: z.array(scope),
});

/** Parses a client from a control call. @throws Error that describes what is wrong */
export const parseClient = (value: unknown): Client => {
  const isPublic = isObject(value) && value.public === true;
  const read = (isPublic ? publicClient : confidentialClient).safeParse(value);
  if (read.success) return read.data;
  const [{ path, message } = { path: [], message: "" }] = read.error.issues;
  throw new Error(
    `${path.join(".")}: ${message}. A client has the form {"clientId", "clientSecret", "scopes": […]}, or {"clientId", "public": true, "redirectUris": […], "scopes": […]}.`,
  );
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
