import { stackMark } from "../../provider/lifecycle/mark.js";
import { markedObjects } from "../../provider/lifecycle/orphans.js";
import { resources } from "../../provider/resources/index.js";
import { connectService, type Service } from "../../provider/service/connect.js";
import type { Settings } from "../../provider/service/settings.js";
import { type Name, world } from "./scenario.js";
import { inputsOf } from "./values.js";
import type { Live } from "./verdict.js";

type Json = Record<string, unknown>;

/** Somebody with the service's own console: sees everything, and changes what is not theirs. */
export class ThirdParty {
  readonly #settings: Settings;
  readonly #service: Service;
  /** Objects of nobody's stack, as they must stay. */
  readonly #foreign = new Map<string, Json>();

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#service = connectService(settings);
  }

  close(): Promise<void> {
    return this.#service.close();
  }

  /** Makes an object under the name of a resource. Does nothing where the service refuses it. */
  async make(name: Name, variant: number): Promise<void> {
    const definition = resources.find(({ kind }) => kind === world[name].kind);
    if (!definition || world[name].refers.length > 0) return;
    const { basicAuth, ...values } = inputsOf(0, { name, variant, version: 9 }, () => "");
    const body = {
      ...values,
      ...(basicAuth ? { basicAuth, type: "basic" } : {}),
      description: "by hand",
    };
    await this.#service.create(definition, body).then(
      async ({ id }) =>
        void this.#foreign.set(id, (await this.#service.read(definition, id)) ?? {}),
      () => undefined,
    );
  }

  /** Removes or changes the object of a stack at that place, if there is one and the service lets. */
  async disturb(how: "remove" | "change", place: number): Promise<void> {
    const own = (await this.live()).filter(({ object }) => !this.#foreign.has(String(object.id)));
    const target = own[place];
    if (!target) return;
    const { definition, object } = target;
    const { id, created: _, ...rest } = object;
    const done =
      how === "remove"
        ? this.#service.remove(definition, String(id))
        : this.#service.replace(definition, String(id), { ...rest, active: false });
    await done.catch(() => undefined);
  }

  async live(): Promise<Live> {
    const lists = await Promise.all(
      resources.map(async (definition) => {
        const { objects } = await this.#service.list(definition, { fresh: true });
        return [...objects.values()].map((object) => ({ definition, object: object as Json }));
      }),
    );
    return lists.flat();
  }

  /** What became of the objects that are nobody's, where they are not as they were. */
  async changedForeign(): Promise<string[]> {
    const live = await this.live();
    return [...this.#foreign].flatMap(([id, before]) => {
      const now = live.find(({ object }) => object.id === id)?.object;
      return JSON.stringify(now) === JSON.stringify(before)
        ? []
        : [`foreign object ${id} was ${now ? "changed" : "destroyed"}`];
    });
  }

  /** The strangers step aside, so that every program can come clean. */
  async freeNames(): Promise<void> {
    for (const { definition, object } of await this.live()) {
      if (this.#foreign.has(String(object.id)))
        await this.#service.remove(definition, String(object.id)).catch(() => undefined);
    }
    this.#foreign.clear();
  }

  /** Removes what carries an ownership's mark and is not known, as `orphans --delete` does. */
  async sweep(ownership: string, known: ReadonlySet<string>): Promise<void> {
    const session = { settings: this.#settings, service: this.#service };
    for (const { definition, id, mark } of await markedObjects(session, resources))
      if (mark.stack === stackMark(ownership) && !known.has(id))
        await this.#service.remove(definition, id).catch(() => undefined);
  }
}
