import { createHash, timingSafeEqual } from "node:crypto";
import { isObject, type JsonObject } from "../provider/definition/json.js";
import type { Journal } from "./store.js";

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

const known = new Set(["clientId", "clientSecret", "public", "redirectUris", "scopes"]);

/**
 * A client as a control call gives it.
 *
 * @throws Error that says what is wrong
 */
export const parseClient = (value: unknown): Client => {
  const shape =
    'A client is {"clientId", "clientSecret", "scopes": […]}, or {"clientId", "public": true, "redirectUris": […], "scopes": […]}.';
  if (!isObject(value)) throw new Error(shape);
  const { clientId, clientSecret, scopes, redirectUris } = value;
  const unknown = Object.keys(value).find((key) => !known.has(key));
  if (unknown !== undefined) throw new Error(`A client has no ${unknown.slice(0, 60)}. ${shape}`);
  if (!isText(clientId) || !isTexts(scopes)) throw new Error(shape);
  if (value.public === true) {
    if (!isTexts(redirectUris) || redirectUris.length === 0 || clientSecret !== undefined)
      throw new Error(shape);
    return { clientId, public: true, redirectUris, scopes };
  }
  if (!isText(clientSecret) || redirectUris !== undefined || (value.public ?? false) !== false)
    throw new Error(shape);
  return { clientId, clientSecret, scopes };
};

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** The clients that may ask for tokens. They outlive a reset. */
export class Clients {
  readonly #clients = new Map<string, Client>();
  readonly #journal: Journal;

  constructor(journal: Journal) {
    this.#journal = journal;
    for (const [, value] of journal.read("client")) this.#set(parseClient(value));
  }

  get(clientId: string): Client | undefined {
    return this.#clients.get(clientId);
  }

  /** The client with this secret; compared in a time that tells nothing. */
  withSecret(clientId: string, secret: string): Client | undefined {
    const client = this.#clients.get(clientId);
    const fits = timingSafeEqual(digest(secret), digest(client?.clientSecret ?? ""));
    return client?.clientSecret !== undefined && fits ? client : undefined;
  }

  put(client: Client): void {
    this.#journal.write("client", client.clientId, client);
    this.#set(client);
  }

  all(): readonly JsonObject[] {
    return [...this.#clients.values()].map((client) => ({ ...client }));
  }

  replaceAll(clients: readonly Client[]): void {
    this.#journal.clear("client");
    this.#clients.clear();
    for (const client of clients) this.put(client);
  }

  #set(client: Client): void {
    this.#clients.set(client.clientId, client);
  }
}
