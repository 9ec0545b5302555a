/// <reference path="../provider/service/undici-parts.d.ts" />
import Pool from "undici/lib/dispatcher/pool.js";
import { isObject, type JsonObject, listedObjects, valueAt } from "../provider/kernel/json.js";

/**
 * The least that makes the same calls as this package: one token, one list, and one POST or DELETE
 * for each object. No marks, rules, pacing, repeats, or messages: not for real use.
 */

type Method = "GET" | "POST" | "DELETE";

let pool: Pool | undefined;

const send = (
  method: Method,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string | null = null,
): Promise<JsonObject> =>
  new Promise((resolve, reject) => {
    const { origin, pathname, search } = new URL(url);
    const chunks: Buffer[] = [];
    let status = 0;
    // The emulator issues the tokens, too.
    pool ??= new Pool(origin, { connections: 8 });
    pool.dispatch(
      { path: pathname + search, method, headers: { ...headers }, body },
      {
        onRequestStart: () => undefined,
        onResponseStart: (_controller, code) => {
          status = code;
        },
        onResponseData: (_controller, chunk) => {
          chunks.push(chunk);
        },
        onResponseEnd: () => {
          const text = Buffer.concat(chunks).toString("utf8");
          const value: unknown = text === "" ? {} : JSON.parse(text);
          if (status < 300) resolve(isObject(value) ? value : {});
          else reject(new Error(`${method} ${pathname}: ${status} ${text}`));
        },
        onResponseError: (_controller, error) => reject(error),
      },
    );
  });

const setting = (name: string): string => process.env[`CONVERSATION_${name}`] ?? "";

const fetchToken = async (): Promise<string> => {
  const form = new URLSearchParams({
    grant_type: "client_credentials",
    scope: setting("SCOPE"),
    client_id: setting("CLIENT_ID"),
    client_secret: setting("CLIENT_SECRET"),
  });
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  return String((await send("POST", setting("TOKEN_URL"), headers, `${form}`)).access_token);
};

let token: Promise<string> | undefined;

const authorized = async (method: Method, path: string, body?: JsonObject): Promise<JsonObject> => {
  token ??= fetchToken();
  const headers = { authorization: `Bearer ${await token}`, accept: "application/json" };
  const url = setting("BASE_URL") + path;
  if (!body) return send(method, url, headers);
  const json = { ...headers, "content-type": "application/json" };
  return send(method, url, json, JSON.stringify(body));
};

/** The first page as it comes; if that is not all, all of them in wide pages. */
const readList = async (collection: string): Promise<ReadonlyMap<string, JsonObject>> => {
  let body = await authorized("GET", `/${collection}`);
  const objects = new Map<string, JsonObject>();
  for (let page = 1; ; page++) {
    for (const item of Object.values(body).flatMap(listedObjects))
      objects.set(String(item.id), item);
    if (objects.size >= Number(valueAt(body, "paginationInfo", "count") ?? 0)) return objects;
    body = await authorized("GET", `/${collection}?$pagenum=${page}&$pagesize=75`);
  }
};

/** A provider for what tells the objects of one state from those of others. */
export const owner = { create: async () => ({ id: "sameCalls/bench/0123456789abcdef", outs: {} }) };

/** A provider for the objects of a collection, as the engine calls it. */
export const sameCalls = (collection: string) => {
  let list: ReturnType<typeof readList> | undefined;
  const listed = () => (list ??= readList(collection));
  return {
    create: async (inputs: JsonObject) => {
      await listed();
      const { __provider, owner: _, ...body } = inputs;
      const made = await authorized("POST", `/${collection}`, body);
      const now = new Date().toISOString();
      const { id, created = now, modified = now } = made;
      return { id, outs: { ...inputs, created, modified, serial: "0123456789a" } };
    },
    read: async (id: string, outputs: JsonObject) => {
      const live = (await listed()).get(id);
      if (!live) return { id: "", props: {} };
      const { created: _, modified: __, serial: ___, ...inputs } = outputs;
      return { id, props: outputs, inputs: { ...inputs, name: live.name } };
    },
    diff: async (_id: string, olds: JsonObject, news: JsonObject) => ({
      changes: olds.name !== news.name,
    }),
    delete: async (id: string) => {
      await authorized("DELETE", `/${collection}/${id}`);
    },
  };
};
