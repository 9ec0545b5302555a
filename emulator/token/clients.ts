import { hash, timingSafeEqual } from "node:crypto";
import { isObject } from "../../provider/kernel/json.js";
import type { Journal } from "../journal.js";

/** A client application as the token address knows it: with a secret, or public with redirect addresses. */
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

/** A redirect address is absolute and has no fragment (RFC 6749 §3.1.2); it travels in a header as it is. */
const isRedirect = (text: string): boolean =>
  URL.canParse(text) && /^[\x21\x22\x24-\x7e]+$/.test(text);

/** Neither spaces nor quotes: scopes travel in one text (RFC 6749 §3.3). */
const isScope = (text: string): boolean => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(text);

const known = new Set(["clientId", "clientSecret", "public", "redirectUris", "scopes"]);

/** A client as a control call gives it. @throws Error that says what is wrong */
export const parseClient = (value: unknown): Client => {
  const shape =
    'A client is {"clientId", "clientSecret", "scopes": […]}, or {"clientId", "public": true, "redirectUris": […], "scopes": […]}.';
  if (!isObject(value)) throw new Error(shape);
  const { clientId, clientSecret, scopes, redirectUris } = value;
  const unknown = Object.keys(value).find((key) => !known.has(key));
  if (unknown !== undefined) throw new Error(`A client has no ${unknown.slice(0, 60)}. ${shape}`);
  if (!isText(clientId) || !isTexts(scopes)) throw new Error(shape);
  if (!scopes.every(isScope))
    throw new Error(`A scope is one word without spaces, quotes or backslashes. ${shape}`);
  if (value.public === true) {
    if (!isTexts(redirectUris) || redirectUris.length === 0 || clientSecret !== undefined)
      throw new Error(shape);
    if (!redirectUris.every(isRedirect))
      throw new Error(
        `redirectUris must be absolute addresses, percent-encoded, without a fragment. ${shape}`,
      );
    return { clientId, public: true, redirectUris, scopes };
  }
  if (!isText(clientSecret) || redirectUris !== undefined || (value.public ?? false) !== false)
    throw new Error(shape);
  return { clientId, clientSecret, scopes };
};

const digest = (text: string): Buffer => hash("sha256", text, "buffer");

/** The clients that may ask for tokens. They outlive a reset. */
export class Clients {
  readonly #clients = new Map<string, Client>();
  #own: Client;

  /**
   * @param own the client whose credentials the emulator gives out: where none was saved it is the
   * first one, and its secret stays good whatever a snapshot puts in its place, until it is put anew
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

  /** The credentials that the emulator gives out. */
  get own(): Client {
    return this.#own;
  }

  get(clientId: string): Client | undefined {
    return this.#clients.get(clientId);
  }

  /** The client with this secret; compared in a time that tells nothing. */
  withSecret(clientId: string, secret: string): Client | undefined {
    const own = this.#own.clientId === clientId ? this.#own : undefined;
    return [this.#clients.get(clientId), own].find((client) => {
      const fits = timingSafeEqual(digest(secret), digest(client?.clientSecret ?? ""));
      return client?.clientSecret !== undefined && fits;
    });
  }

  /** Adds a client, or puts it in the place of the one with its id, whose secret ends with that. */
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
