import { randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { JsonObject as Json } from "../../provider/kernel/json.js";
import { closeServer, listenHere, originOf } from "./loopback-server.js";
import { listKeys, scopes } from "./specification.js";
import { wireOperations } from "./wire-table.js";

/** What happens to the answer of a call that the service has carried out. */
type SpoiledAnswer = "cut off" | "500" | "truncated";

/** What goes wrong with one call that writes. */
export interface WriteFault {
  readonly answer: SpoiledAnswer | null;
  /** How many pages of the collection's list do not know of it yet. */
  readonly staleLists: number;
}

/** A list as it was before a write, for so many more pages. */
interface Lag {
  readonly objects: readonly Json[];
  left: number;
}

/** The faults of the strict service: a plan for the next writes, each of them carried out all the same. */
class StrictFaults {
  /** How often each fault struck, ever. */
  readonly struck: Record<SpoiledAnswer | "stale list", number> = {
    "cut off": 0,
    "500": 0,
    truncated: 0,
    "stale list": 0,
  };
  /** Collections whose list was behind the truth since the last plan. */
  readonly lagged = new Set<string>();
  #plan: WriteFault[] = [];
  readonly #lags = new Map<string, Lag>();

  /** The next writes go wrong in this way, one after the other. */
  plan(faults: readonly WriteFault[]): void {
    this.#plan = [...faults];
    this.lagged.clear();
  }

  /** No fault any more, and every list tells the truth. */
  calm(): void {
    this.#plan = [];
    this.#lags.clear();
  }

  /** Before a write is carried out: what is to happen to its answer. */
  strike(collection: string, objects: readonly Json[]): SpoiledAnswer | null {
    const fault = this.#plan.shift();
    if (fault && fault.staleLists > 0 && !this.#lags.has(collection))
      this.#lags.set(collection, { objects: [...objects], left: fault.staleLists });
    return fault?.answer ?? null;
  }

  /** What a page of the list is taken from. */
  listed(collection: string, objects: readonly Json[]): readonly Json[] {
    const lag = this.#lags.get(collection);
    if (!lag) return objects;
    lag.left -= 1;
    if (lag.left === 0) this.#lags.delete(collection);
    this.struck["stale list"] += 1;
    this.lagged.add(collection);
    return lag.objects;
  }

  /** Gives the answer of a call that was carried out, spoiled. */
  spoil(response: ServerResponse, answer: SpoiledAnswer, status: number, text: string): void {
    this.struck[answer] += 1;
    if (answer === "500") {
      response.writeHead(500, { "content-type": "application/json" });
      response.end('{"code":"500-100","developerMessage":"internal error"}');
    } else if (answer === "truncated" && text !== "") {
      response.writeHead(status, { "content-length": Buffer.byteLength(text) });
      response.write(text.slice(0, text.length / 2), () => response.destroy());
    } else response.destroy();
  }
}

/**
 * A second service of the same contract, written by hand and from the contract alone: other base
 * path, five objects on a page, secrets masked unless it is told otherwise, a PUT that replaces, refusals that name nobody.
 * It shares nothing with the emulator or the definitions, so that one mistake is not made twice.
 * Its faults are its own, too.
 */

const unique = (collection: string): string | undefined =>
  collection === "channels" ? "type" : collection === "orchestrations" ? undefined : "name";

/** What the service shows of a secret. */
export type ShownSecrets = "mask" | "echo" | "omit";

const shownAs = (way: ShownSecrets, value: unknown): unknown => {
  if (way === "echo") return value;
  const shown = way === "mask" ? "••••••" : undefined;
  return JSON.parse(JSON.stringify(value), (key, member) => {
    if ((key === "password" || key === "payload") && typeof member === "string") return shown;
    const hides = (key === "headers" || key === "attributes") && Array.isArray(member);
    return hides ? member.map((entry: Json) => ({ ...entry, value: shown })) : member;
  });
};

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: Json;
}

export interface StrictService {
  readonly environment: Readonly<Record<string, string>>;
  /** Every call but those for a token. */
  readonly calls: Call[];
  readonly tokens: () => number;
  /** Scopes that the next token has; undefined: it says nothing, and everything is allowed. */
  scopes: readonly string[] | undefined;
  readonly objects: (collection: string) => Json[];
  /** Changes an object behind everybody's back. */
  readonly change: (collection: string, name: string, changes: Json) => void;
  readonly remove: (collection: string, name: string) => void;
  /** Puts an object there that somebody else has made. */
  readonly plant: (collection: string, object: Json & { readonly id: string }) => void;
  readonly faults: StrictFaults;
  /** Settles when so many more calls have arrived, those for a token left aside, or on the signal. */
  readonly arrived: (count: number, signal: AbortSignal) => Promise<void>;
  readonly close: () => Promise<void>;
}

export const startStrictService = async (
  secrets: ShownSecrets = "mask",
): Promise<StrictService> => {
  const tables = new Map(Object.keys(listKeys).map((name) => [name, new Map<string, Json>()]));
  const calls: Call[] = [];
  const faults = new StrictFaults();
  const spoiled = new WeakMap<ServerResponse, SpoiledAnswer>();
  const arrivals = new EventEmitter();
  let tokens = 0;
  let token: string | undefined;

  /** A kind that came later is served, too: by its name alone. */
  const table = (collection: string): Map<string, Json> => {
    const found = tables.get(collection) ?? new Map<string, Json>();
    tables.set(collection, found);
    return found;
  };
  const listKey = (collection: string): string =>
    listKeys[collection] ?? collection.replace(/s$/, "");
  const send = (response: ServerResponse, status: number, body?: unknown): void => {
    const text = body === undefined ? "" : JSON.stringify(shownAs(secrets, body));
    const answer = spoiled.get(response);
    if (answer && status < 300) faults.spoil(response, answer, status, text);
    else response.writeHead(status, text ? { "content-type": "application/json" } : {}).end(text);
  };
  const refuse = (response: ServerResponse, status: number, developerMessage: string): void =>
    send(response, status, { code: `${status}-199`, developerMessage });

  const isUsed = (id: string): boolean =>
    [...tables.values()].some((objects) =>
      [...objects].some(
        ([other, object]) => other !== id && JSON.stringify(object).includes(`"${id}"`),
      ),
    );

  const list = (response: ServerResponse, collection: string, url: URL): void => {
    const all = faults.listed(collection, [...table(collection).values()]);
    const pagenum = Number(url.searchParams.get("$pagenum") ?? 1);
    const items = all.slice((pagenum - 1) * 5, pagenum * 5);
    const paginationInfo = { count: all.length, pagenum, pagesize: 5 };
    send(response, 200, { paginationInfo, [listKey(collection)]: items });
  };

  const write = (response: ServerResponse, collection: string, body: Json, id?: string) => {
    const operation = id ? `PUT /${collection}/{id}` : `POST /${collection}`;
    const [wrong] = wireOperations.get(operation)?.sent?.(body, "") ?? [];
    if (wrong) return refuse(response, 400, wrong);
    const key = unique(collection);
    const duplicate = [...table(collection)].find(
      ([other, object]) => key && other !== id && object[key] === body[key],
    );
    if (duplicate) return refuse(response, 400, "duplicate");
    const now = new Date().toISOString();
    const before = id ? table(collection).get(id) : undefined;
    const made = id ?? randomUUID();
    const { modified: _, ...rest } = body;
    table(collection).set(made, {
      active: true,
      ...rest,
      id: made,
      created: before?.created ?? now,
      modified: now,
    });
    return id ? send(response, 204) : send(response, 201, { id: made });
  };

  const item = (
    response: ServerResponse,
    method: string,
    collection: string,
    id: string,
    body: Json,
  ) => {
    const found = table(collection).get(id);
    if (!found) return refuse(response, 404, "not found");
    if (method === "GET") return send(response, 200, found);
    if (method === "PUT") return write(response, collection, body, id);
    if (isUsed(id)) return refuse(response, 400, "cannot be removed");
    table(collection).delete(id);
    return send(response, 204);
  };

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = "" } = request;
    const url = new URL(request.url ?? "", "http://x");
    const body = await text(request);
    if (url.pathname === "/login") {
      tokens += 1;
      token = `t${tokens}`;
      return send(response, 200, {
        access_token: token,
        expires_in: 3600,
        token_type: "Bearer",
        ...(service.scopes ? { scope: service.scopes.join(" ") } : {}),
      });
    }
    const [, tenant, version, collection = "", id, ...more] = url.pathname.split("/");
    if (!token || request.headers.authorization !== `Bearer ${token}`)
      return refuse(response, 401, "no");
    const known =
      tenant === "tenant-7" && version === "v3" && collection !== "" && more.length === 0;
    if (!known) return refuse(response, 404, "no such path");
    const given: Json = body ? JSON.parse(body) : {};
    const path = url.pathname.replace("/tenant-7/v3", "");
    calls.push({ method, path: path + url.search, ...(body ? { body: given } : {}) });
    arrivals.emit("call");
    const isFree = !service.scopes || service.scopes.includes(scopes.M);
    if (!isFree && (method !== "GET" || collection === "authentications"))
      return send(response, 403, { code: "403-197", developerMessage: "scope" });
    const answer =
      method === "GET" ? null : faults.strike(collection, [...table(collection).values()]);
    if (answer) spoiled.set(response, answer);
    if (id !== undefined) return item(response, method, collection, id, given);
    return method === "POST" ? write(response, collection, given) : list(response, collection, url);
  };

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  await listenHere(server);
  const origin = originOf(server);
  const named = (collection: string, name: string): [string, Json] => {
    const found = [...table(collection)].find(
      ([, object]) => object[unique(collection) ?? "name"] === name,
    );
    if (!found) throw new Error(`no ${name}`);
    return found;
  };
  const service: StrictService = {
    scopes: undefined,
    environment: {
      CONVERSATION_BASE_URL: `${origin}/tenant-7/v3`,
      CONVERSATION_TOKEN_URL: `${origin}/login`,
      CONVERSATION_CLIENT_ID: "client",
      CONVERSATION_CLIENT_SECRET: "canary-client-secret",
    },
    calls,
    tokens: () => tokens,
    objects: (collection) => [...table(collection).values()],
    change: (collection, name, changes) => {
      const [id, object] = named(collection, name);
      table(collection).set(id, { ...object, ...changes });
    },
    remove: (collection, name) => void table(collection).delete(named(collection, name)[0]),
    plant: (collection, object) => void table(collection).set(object.id, object),
    faults,
    arrived: async (count, signal) => {
      const until = calls.length + count;
      while (!signal.aborted && calls.length < until)
        await once(arrivals, "call", { signal }).catch(() => undefined);
    },
    close: () => closeServer(server),
  };
  return service;
};
