import type { Emulator } from "../../emulator/index.js";
import type { LogEntry } from "../../emulator/service/calls.js";
import type { JsonObject as Json } from "../../provider/kernel/json.js";

export interface HubObject extends Json {
  readonly id: string;
  readonly description?: unknown;
}

type Addresses = Omit<Emulator, "advance" | "close" | "authUrl">;

/** Looks at an emulator and changes it, beside the code under test. */
export class EmulatorControl {
  constructor(readonly emulator: Addresses) {}

  /** A call of the control interface, such as `PUT /switches`; gives its JSON. */
  async control(method: string, path: string, body?: unknown): Promise<unknown> {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
    const response = await fetch(this.emulator.controlUrl + path, init);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  }

  /** Objects by collection, secrets in clear. */
  async collections(): Promise<Readonly<Record<string, readonly HubObject[]>>> {
    const { objects } = (await this.control("GET", "/snapshot")) as {
      objects: Record<string, HubObject[]>;
    };
    return objects;
  }

  async objects(collection?: string): Promise<HubObject[]> {
    const all = await this.collections();
    return collection ? [...(all[collection] ?? [])] : Object.values(all).flat();
  }

  async log(): Promise<LogEntry[]> {
    return (await this.control("GET", "/log")) as LogEntry[];
  }

  /** Calls so far that may have changed something, such as `POST /channels`. */
  async writes(): Promise<string[]> {
    return (await this.log())
      .filter(({ method }) => method !== "GET")
      .map(({ method, template }) => `${method} ${template}`);
  }

  async faults(...rules: readonly Json[]): Promise<void> {
    await this.control("POST", "/faults", rules);
  }

  /**
   * A call of the service by somebody else, with a token of their own; gives its JSON. Sends no member
   * that only the service sets.
   */
  async byHand(method: string, path: string, given?: Json): Promise<Json> {
    const { id: _, created: __, modified: ___, ...body } = given ?? {};
    const { baseUrl, tokenUrl, clientId, clientSecret } = this.emulator;
    const form = new URLSearchParams({
      grant_type: "client_credentials",
      client_id: clientId,
      client_secret: clientSecret,
      scope: "x/.default",
    });
    const granted = await fetch(tokenUrl, { method: "POST", body: form });
    const { access_token } = (await granted.json()) as { access_token: string };
    const headers = { authorization: `Bearer ${access_token}`, "content-type": "application/json" };
    const init = { method, headers, ...(given ? { body: JSON.stringify(body) } : {}) };
    const response = await fetch(baseUrl + path, init);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
    return text === "" ? {} : (JSON.parse(text) as Json);
  }
}
