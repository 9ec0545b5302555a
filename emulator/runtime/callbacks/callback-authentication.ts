import type { JsonObject } from "../../../provider/kernel/json.js";
import { authentication } from "../../../provider/resources/authentication.js";
import type { StoredObject } from "../../objects/store.js";
import { listAt, stepsOf, textOnPath, valueOnPath } from "../json-path.js";
import { isActive, type SetUp } from "../routing.js";
import { NoAnswer, type Outgoing, type OutgoingCall } from "./outgoing.js";

/** Headers that say where a message ends belong to the connection, not to whoever set a role up. */
const framing = /^(content-length|transfer-encoding|connection|trailer|upgrade|keep-alive|expect)$/;

/** Headers by their names in lower case, from a list of names and values. */
export const headersOf = (list: readonly unknown[]): Record<string, string> =>
  Object.fromEntries(
    list.flatMap((entry) => {
      const name = textOnPath(entry, "name")?.toLowerCase();
      const value = valueOnPath(entry, "value");
      const isSent = name !== undefined && !framing.test(name) && typeof value === "string";
      return isSent ? [[name, value]] : [];
    }),
  );

/** What a call needs beside its address and body. */
export type CallTerms = Pick<OutgoingCall, "deadlineMs" | "signal">;

interface Fetched {
  /** Of the authentication: another one makes the token stale. */
  readonly modified: string;
  readonly token: Promise<string>;
}

const basic = (object: StoredObject): string => {
  const user = textOnPath(object, "basicAuth", "username") ?? "";
  const password = textOnPath(object, "basicAuth", "password") ?? "";
  return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
};

const tokenIn = (text: string, path: string): string => {
  const steps = stepsOf(path);
  if (!steps) throw new NoAnswer("no token: accessTokenPath must be like $.accessToken");
  let reply: unknown;
  try {
    reply = JSON.parse(text);
  } catch {
    throw new NoAnswer("no token: the token address answered no JSON");
  }
  const token = textOnPath(reply, ...steps);
  if (token) return token;
  throw new NoAnswer("no token: there is none at accessTokenPath in the answer");
};

/** The call that fetches a token; POST with JSON and `$.access_token` where nothing else is said (assumed). */
const tokenCall = (object: StoredObject, terms: CallTerms): OutgoingCall => {
  const url = textOnPath(object, "oauth2", "tokenRequestUrl");
  if (url === undefined) throw new NoAnswer("no token: the authentication has no tokenRequestUrl");
  const body = textOnPath(object, "oauth2", "payload");
  const own = headersOf(listAt(object, "oauth2", "headers"));
  const json = body === undefined ? {} : { "content-type": "application/json" };
  return {
    ...terms,
    url,
    method: textOnPath(object, "oauth2", "method")?.toUpperCase() ?? "POST",
    headers: { ...json, ...own },
    ...(body === undefined ? {} : { body }),
    wantsBody: true,
  };
};

/** Signs in at callbacks: Basic, or OAuth with a token that is kept until the callback answers 401. */
export class CallbackAuthentication {
  readonly #fetched = new Map<string, Fetched>();

  constructor(
    private readonly setUp: SetUp,
    private readonly outgoing: Outgoing,
  ) {}

  /**
   * The Authorization header for a role; undefined where it has no authentication.
   *
   * @throws NoAnswer where no token can be had
   */
  async headerFor(role: JsonObject, terms: CallTerms): Promise<string | undefined> {
    const id = textOnPath(role, "authentication", "id");
    if (id === undefined) return undefined;
    const object = this.setUp.store.get(authentication.collection, id);
    if (!object) throw new NoAnswer("the authentication of the role does not exist");
    if (!isActive(this.setUp, object))
      throw new NoAnswer("the authentication of the role is not active");
    return object.basicAuth === undefined
      ? `Bearer ${await this.#tokenOf(object, terms)}`
      : basic(object);
  }

  /** Has a new token fetched, if this header is still the one in use. */
  async forget(role: JsonObject, header: string): Promise<void> {
    const id = textOnPath(role, "authentication", "id") ?? "";
    const known = this.#fetched.get(id);
    const token = await known?.token.catch(() => undefined);
    if (header === `Bearer ${token}` && this.#fetched.get(id) === known) this.#fetched.delete(id);
  }

  /** Throws every token away. */
  clear(): void {
    this.#fetched.clear();
  }

  #tokenOf(object: StoredObject, terms: CallTerms): Promise<string> {
    const known = this.#fetched.get(object.id);
    if (known?.modified === object.modified) return known.token;
    const token = this.#fetch(object, terms);
    const fetched: Fetched = { modified: object.modified, token };
    this.#fetched.set(object.id, fetched);
    token.catch(() => {
      if (this.#fetched.get(object.id) === fetched) this.#fetched.delete(object.id);
    });
    return token;
  }

  async #fetch(object: StoredObject, terms: CallTerms): Promise<string> {
    const call = tokenCall(object, terms);
    const { status, body } = await this.outgoing.call(call).catch((error) => {
      throw new NoAnswer(`no token: ${error instanceof NoAnswer ? error.message : "failed"}`);
    });
    if (status < 200 || status > 299)
      throw new NoAnswer(`no token: the token address answered ${status}`);
    return tokenIn(body, textOnPath(object, "oauth2", "accessTokenPath") ?? "$.access_token");
  }
}
