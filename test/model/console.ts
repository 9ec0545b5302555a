import type { Definition } from "../../provider/definition/define.js";
import type { JsonObject as Json } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";

/** An object as the service keeps it, secrets in clear. */
export interface LiveObject {
  readonly definition: Definition;
  readonly id: string;
  readonly object: Json;
}

/** Objects in the service. */
export type Live = readonly LiveObject[];

interface Snapshot {
  readonly objects: Readonly<Record<string, readonly Json[]>>;
}

/** The service as those see it who keep it. */
export class Console {
  readonly #url: string;

  /** @param controlUrl of the emulator */
  constructor(controlUrl: string) {
    this.#url = controlUrl;
  }

  async #call(method: string, path: string, body?: unknown): Promise<unknown> {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
    const response = await fetch(this.#url + path, init);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  }

  /** Empty, with these switches. */
  async reset(switches: Json): Promise<void> {
    await this.#call("POST", "/reset");
    await this.#call("PUT", "/switches", switches);
  }

  async live(): Promise<Live> {
    const { objects } = (await this.#call("GET", "/snapshot")) as Snapshot;
    return resources.flatMap((definition) =>
      (objects[definition.collection] ?? []).map((object) => ({
        definition,
        id: String(object.id),
        object,
      })),
    );
  }

  /** Changes an object behind everybody's back. */
  async change(id: string, change: (object: Json) => Json): Promise<void> {
    const snapshot = (await this.#call("GET", "/snapshot")) as Snapshot;
    const changed = (object: Json): Json =>
      object.id === id ? { ...change(object), modified: nextMoment(object.modified) } : object;
    const objects = Object.entries(snapshot.objects).map(([name, all]) => [name, all.map(changed)]);
    await this.#call("PUT", "/snapshot", { ...snapshot, objects: Object.fromEntries(objects) });
  }
}

const nextMoment = (time: unknown): string => new Date(Date.parse(String(time)) + 1).toISOString();
