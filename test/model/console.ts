import type { Definition } from "../../provider/definition/define.js";
import type { JsonObject as Json } from "../../provider/kernel/json.js";
import { EmulatorControl } from "../support/emulator-control.js";
import { listed } from "../support/forms.js";

/** An object as the service keeps it, secrets in clear. */
export interface LiveObject {
  readonly definition: Definition;
  readonly id: string;
  readonly object: Json;
}

/** Objects in the service. */
export type Live = readonly LiveObject[];

/** The service as those see it who keep it. */
export class Console extends EmulatorControl {
  /** Empty, with these switches. */
  async reset(switches: Json): Promise<void> {
    await this.control("POST", "/reset");
    await this.control("PUT", "/switches", switches);
  }

  async live(): Promise<Live> {
    return listed(await this.collections()).map(({ wire: object, ...of }) => ({ ...of, object }));
  }

  /** Changes an object behind everybody's back. */
  async change(id: string, change: (object: Json) => Json): Promise<void> {
    const changed = (object: Json): Json =>
      object.id === id ? { ...change(object), modified: nextMoment(object.modified) } : object;
    const snapshot = Object(await this.control("GET", "/snapshot"));
    const collections: readonly [string, readonly Json[]][] = Object.entries(snapshot.objects);
    const objects = collections.map(([name, all]) => [name, all.map(changed)]);
    await this.control("PUT", "/snapshot", { ...snapshot, objects: Object.fromEntries(objects) });
  }
}

const nextMoment = (time: unknown): string => new Date(Date.parse(String(time)) + 1).toISOString();
