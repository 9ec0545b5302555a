import { Pool } from "undici";
import { expect, onTestFinished } from "vitest";
import { type Emulator, type EmulatorOptions, startEmulator } from "../../emulator/index.js";
import type { Definition } from "../../provider/definition/define.js";
import { normaliseFields } from "../../provider/definition/fields.js";
import { bodyOf } from "../../provider/definition/wire.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { bound } from "../support/forms.js";
import { scopes } from "../support/specification.js";

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body where it is a JSON object, else an empty object. */
  readonly json: JsonObject;
}

interface CallOptions {
  /** Null: no Authorization header. Default: a token with all scopes. */
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is, in place of JSON. */
  readonly raw?: string | Buffer;
  readonly signal?: AbortSignal;
}

const parsed = (text: string): JsonObject => {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : Array.isArray(value) ? { items: value } : {};
  } catch {
    return {};
  }
};

/** An emulator and an HTTP client that changes nothing of what a test sends. */
export class Running implements AsyncDisposable {
  readonly #pool: Pool;
  #token: string | undefined;

  constructor(readonly emulator: Emulator) {
    this.#pool = new Pool(new URL(emulator.baseUrl).origin, { connections: 20 });
  }

  async send(method: string, url: string, options: CallOptions = {}): Promise<Reply> {
    const { headers = {}, raw, signal } = options;
    const path = url.startsWith("http") ? url.slice(new URL(url).origin.length) : url;
    const response = await this.#pool.request({
      method: method as "GET",
      path,
      headers,
      ...(raw === undefined ? {} : { body: raw }),
      ...(signal === undefined ? {} : { signal }),
    });
    const text = await response.body.text();
    return { status: response.statusCode, headers: response.headers, text, json: parsed(text) };
  }

  /** A call of the service, its path below the base path. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    options: CallOptions = {},
  ): Promise<Reply> {
    const token = options.token === undefined ? await this.token() : options.token;
    return this.send(method, this.emulator.baseUrl + path, {
      ...options,
      ...(body === undefined ? {} : { raw: JSON.stringify(body) }),
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...options.headers,
      },
    });
  }

  control(method: string, path: string, body?: unknown): Promise<Reply> {
    const raw = body === undefined ? {} : { raw: JSON.stringify(body) };
    return this.send(method, this.emulator.controlUrl + path, raw);
  }

  form(url: string, fields: Readonly<Record<string, string>>): Promise<Reply> {
    return this.send("POST", url, {
      raw: new URLSearchParams(fields).toString(),
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
  }

  /** Form fields that give a token; changes win, undefined leaves a field out. */
  credentials(changes: Readonly<Record<string, string | undefined>> = {}): Record<string, string> {
    const all = {
      grant_type: "client_credentials",
      client_id: this.emulator.clientId,
      client_secret: this.emulator.clientSecret,
      scope: Object.values(scopes).join(" "),
      ...changes,
    };
    return Object.fromEntries(
      Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
  }

  /** A new access token. */
  async tokenFor(scope: string): Promise<string> {
    const { json } = await this.form(this.emulator.tokenUrl, this.credentials({ scope }));
    return String(json.access_token);
  }

  async token(): Promise<string> {
    this.#token ??= await this.tokenFor(Object.values(scopes).join(" "));
    return this.#token;
  }

  /** Throws the remembered token away. */
  forgetToken(): void {
    this.#token = undefined;
  }

  /**
   * A valid body of a kind.
   *
   * @param ids of the objects that it refers to, by kind; those that are not there are made first
   */
  async body(
    definition: Definition,
    changes: JsonObject = {},
    ids = new Map<string, string>(),
  ): Promise<JsonObject> {
    const kept = Object.entries(definition.example).filter(
      ([name]) => !Object.hasOwn(changes, name),
    );
    for (const [, kind = ""] of JSON.stringify(kept).matchAll(/\$\{(\w+)\}/g))
      if (!ids.has(kind)) ids.set(kind, await this.make(kindOf(kind), {}, ids));
    const given = bound(Object.fromEntries(kept), (kind) => ids.get(kind));
    const inputs = normaliseFields(definition, given as JsonObject);
    const body = bodyOf(definition, inputs, { platformName: "platform" });
    const unique = Object.entries(definition.fields).filter(
      ([, field]) => field.type === "text" && field.unique,
    );
    serial += 1;
    const own = unique.map(([name]) => [name, `${String(body[name])}-${serial}`]);
    return { ...body, ...Object.fromEntries(own), ...changes };
  }

  /** Makes an object of a kind and whatever it refers to. */
  async make(
    definition: Definition,
    changes: JsonObject = {},
    ids = new Map<string, string>(),
  ): Promise<string> {
    const body = await this.body(definition, changes, ids);
    const reply = await this.call("POST", `/${definition.collection}`, body);
    if (reply.status !== 201) throw new Error(`${definition.kind}: ${reply.status} ${reply.text}`);
    return String(reply.json.id);
  }

  /** An object as GET gives it; the list must give the same. */
  async given(kind: string, id: string): Promise<JsonObject> {
    const { collection, listKey } = kindOf(kind);
    const { json } = await this.call("GET", `/${collection}/${id}`);
    const listed = (await this.call("GET", `/${collection}?$pagesize=75`)).json[listKey];
    expect(Array.isArray(listed) ? listed : []).toContainEqual(json);
    return json;
  }

  async stored(kind: string): Promise<readonly JsonObject[]> {
    const { objects } = await this.emulator.control.snapshot();
    return (objects[kindOf(kind).collection] ?? []).filter(isObject);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.destroy();
    await this.emulator.close();
  }
}

let serial = 0;

export const kindOf = (kind: string): Definition => {
  const definition = resources.find((each) => each.kind === kind);
  if (!definition) throw new Error(`no kind ${kind}`);
  return definition;
};

/** A running emulator for a whole file; the file closes it. */
export const start = async (options: EmulatorOptions = {}): Promise<Running> =>
  new Running(await startEmulator({ clock: "manual", ...options }));

export const running = async (options: EmulatorOptions = {}): Promise<Running> => {
  const service = await start(options);
  onTestFinished(() => service[Symbol.asyncDispose]());
  return service;
};
