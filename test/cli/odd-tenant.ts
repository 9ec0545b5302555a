import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { isObject, type JsonObject, jsonIn } from "../../provider/kernel/json.js";
import { closeServer, listenHere } from "../support/loopback-server.js";

/** How a tenant of a test behaves, beyond what an emulator can be set to. */
export interface OddTenantOptions {
  readonly duplicateStatus?: number;
  readonly inUseStatus?: number;
  readonly pageSize?: number;
  /** A list comes whole, and in another order each time. */
  readonly whole?: boolean;
  /** Whether lists say how many objects there are. */
  readonly counted?: boolean;
  /** New objects appear in lists after so many lists. */
  readonly lagLists?: number;
  /** Every so many calls, the token is not taken any more. */
  readonly tokenCalls?: number;
  /** Every so many calls, one is refused for the rate. */
  readonly throttledEvery?: number;
  /** Collections whose creations are refused (403). */
  readonly closed?: readonly string[];
  readonly secrets?: "mask" | "echo" | "omit" | "scrambled";
  readonly put?: "replace" | "keep";
  readonly anyApplicationHolds?: boolean;
  /** A PUT with `modified` is refused, whatever it says. */
  readonly refusesModified?: boolean;
}

/** A tenant that answers oddly, written apart from emulator and definitions. */
export interface OddTenant {
  readonly environment: Readonly<Record<string, string>>;
  readonly left: () => readonly JsonObject[];
  /** Calls so far: those for tokens, those refused for the rate, others. */
  readonly counts: { tokens: number; throttled: number; expired: number; others: number };
  close(): Promise<void>;
}

const singular = (collection: string): string =>
  collection === "clientapplications" ? "clientApplication" : collection.slice(0, -1);

const bodyOf = async (request: IncomingMessage): Promise<JsonObject> => {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  const value = jsonIn(text);
  return isObject(value) ? value : {};
};

const shownSecret = (value: string, secrets: OddTenantOptions["secrets"]): string | undefined =>
  ({ mask: "********", echo: value, omit: undefined, scrambled: `sha256:${value.length}` })[
    secrets ?? "mask"
  ];

/** Starts it on any free port. */
export const startOddTenant = async (options: OddTenantOptions = {}): Promise<OddTenant> => {
  const { pageSize = 10, counted = true, lagLists = 0 } = options;
  const tables = new Map<string, JsonObject[]>();
  const counts = { tokens: 0, throttled: 0, expired: 0, others: 0 };
  let lists = 0;
  let calls = 0;

  const table = (collection: string): JsonObject[] => {
    const found = tables.get(collection) ?? [];
    tables.set(collection, found);
    return found;
  };
  const answer = (response: ServerResponse, status: number, body?: unknown): ServerResponse => {
    const text = body === undefined ? "" : JSON.stringify(body);
    return response.writeHead(status, { "content-type": "application/json" }).end(text);
  };
  const shown = ({ listedAt: _, ...object }: JsonObject): JsonObject => {
    const { oauth2 } = object;
    if (!isObject(oauth2) || typeof oauth2.payload !== "string") return object;
    const payload = shownSecret(oauth2.payload, options.secrets);
    return { ...object, oauth2: { ...oauth2, payload } };
  };
  const isHeld = (collection: string, id: string): boolean => {
    if (collection === "channels" && options.anyApplicationHolds)
      return table("clientapplications").length > 0;
    return [...tables.values()]
      .flat()
      .some((each) => each.id !== id && JSON.stringify(each).includes(`"${id}"`));
  };
  const list = (response: ServerResponse, collection: string, url: URL) => {
    lists += 1;
    const seen = table(collection).filter(({ listedAt = 0 }) => Number(listedAt) <= lists);
    const page = Number(url.searchParams.get("$pagenum") ?? 1);
    const size = Number(url.searchParams.get("$pagesize") ?? pageSize);
    const items = options.whole
      ? lists % 2 === 0
        ? [...seen].reverse()
        : seen
      : seen.slice((page - 1) * size, page * size);
    const info = counted ? { paginationInfo: { count: seen.length, pagenum: page } } : {};
    return answer(response, 200, { ...info, [singular(collection)]: items.map(shown) });
  };
  const create = (response: ServerResponse, collection: string, body: JsonObject) => {
    if (options.closed?.includes(collection)) return answer(response, 403, { code: "403-1" });
    const key = collection === "channels" ? "type" : "name";
    if (table(collection).some((each) => each[key] === body[key]))
      return answer(response, options.duplicateStatus ?? 400, { code: "x" });
    const id = randomUUID();
    const modified = new Date().toISOString();
    table(collection).push({ ...body, id, modified, listedAt: lists + lagLists + 1 });
    return answer(response, 201, { id });
  };
  const change = (response: ServerResponse, collection: string, id: string, body: JsonObject) => {
    if (options.refusesModified && body.modified !== undefined) return answer(response, 400, {});
    const objects = table(collection);
    const place = objects.findIndex((each) => each.id === id);
    const before = objects[place];
    if (!before) return answer(response, 404, {});
    const base = options.put === "keep" ? before : { listedAt: before.listedAt };
    objects[place] = { ...base, ...body, id, modified: new Date().toISOString() };
    return answer(response, 200, shown({ ...objects[place] }));
  };
  const drop = (response: ServerResponse, collection: string, id: string) => {
    const objects = table(collection);
    const place = objects.findIndex((each) => each.id === id);
    if (place < 0) return answer(response, 404, {});
    if (isHeld(collection, id)) return answer(response, options.inUseStatus ?? 400, {});
    objects.splice(place, 1);
    return answer(response, 204);
  };
  const served = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? "", "http://tenant");
    const body = await bodyOf(request);
    if (url.pathname === "/token") {
      counts.tokens += 1;
      return answer(response, 200, { access_token: randomUUID(), expires_in: 100_000 });
    }
    calls += 1;
    if (options.tokenCalls && calls % options.tokenCalls === 0) {
      counts.expired += 1;
      return answer(response, 401, {});
    }
    if (options.throttledEvery && calls % options.throttledEvery === 0) {
      counts.throttled += 1;
      return answer(response, 429, {});
    }
    counts.others += 1;
    const [, , collection = "", id = ""] = url.pathname.split("/");
    if (request.method === "POST") return create(response, collection, body);
    if (request.method === "PUT") return change(response, collection, id, body);
    if (request.method === "DELETE") return drop(response, collection, id);
    if (id === "") return list(response, collection, url);
    const found = table(collection).find((each) => each.id === id);
    return found ? answer(response, 200, shown(found)) : answer(response, 404, {});
  };
  const server = createServer((request, response) => {
    served(request, response).catch(() => answer(response, 500));
  });
  const origin = await listenHere(server);
  return {
    environment: {
      CONVERSATION_BASE_URL: `${origin}/v3`,
      CONVERSATION_TOKEN_URL: `${origin}/token`,
      CONVERSATION_CLIENT_ID: "probe",
      CONVERSATION_CLIENT_SECRET: "not-a-real-one",
    },
    left: () => [...tables.values()].flat(),
    counts,
    close: () => closeServer(server),
  };
};
