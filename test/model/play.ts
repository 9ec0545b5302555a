import { randomUUID } from "node:crypto";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { type Emulator, startEmulator } from "../../emulator/index.js";
import { orphansOf } from "../../provider/lifecycle/orphans.js";
import { createRun, type Run } from "../../provider/lifecycle/run.js";
import { resources } from "../../provider/resources/index.js";
import type { Clock } from "../../provider/service/clock.js";
import { connectService, type Service } from "../../provider/service/connect.js";
import { readSettings, type Settings } from "../../provider/service/settings.js";
import type { HttpResponse } from "../../provider/service/transport.js";
import { Engine, type State } from "./engine.js";
import { faultyTransport } from "./faulty-transport.js";
import { type Name, type Scenario, type Step, world } from "./scenario.js";
import { inputsOf } from "./values.js";
import { judge, type Live, strangers, twins } from "./verdict.js";

type Json = Record<string, unknown>;

/** Ways to weaken one rule, for the proof that the test would notice. */
export interface Weakness {
  readonly settings?: Partial<Settings>;
  readonly run?: (run: Run) => Run;
  readonly service?: (service: Service) => Service;
  /** Further inputs of every resource. */
  readonly inputs?: Json;
}

/** One service, reused by all scenarios. */
export interface Stage {
  readonly emulator: Emulator;
  readonly settings: Settings;
}

export const openStage = async (): Promise<Stage> => {
  const emulator = await startEmulator({ clock: "manual", switches: { secrets: "mask" } });
  const environment = emulatorEnvironment(emulator);
  return { emulator, settings: readSettings({ environment, config: () => undefined }) };
};

/** Waits take no time. */
const instantly = (): Clock => {
  let now = 0;
  return {
    now: () => now,
    wall: () => now,
    sleep: async (ms) => {
      now += ms;
    },
  };
};

const quick = { minTimeoutMs: 0, maxTimeoutMs: 0 };

class Play {
  readonly #stage: Stage;
  readonly #weakness: Weakness;
  readonly #states: readonly State[];
  readonly #earlier = new Map<string, HttpResponse>();
  /** Objects of nobody's stack, as they must stay. */
  readonly #foreign = new Map<string, Json>();
  /** Somebody with the service's own console. */
  readonly #third: Service;

  constructor(stage: Stage, weakness: Weakness) {
    this.#stage = stage;
    this.#weakness = weakness;
    this.#third = connectService(stage.settings);
    this.#states = [0, 1].map(() => ({
      ownership: `shop/prod/${randomUUID()}`,
      entries: new Map(),
      pending: [],
    }));
  }

  async run({ steps, last }: Scenario): Promise<string[]> {
    for (const step of steps) await this.#step(step);
    const touched = await this.#changedForeign();
    await this.#freeNames();
    const failures: string[] = [];
    for (const stack of [0, 1] as const) {
      const clean = {
        type: "up" as const,
        stack,
        program: last[stack] ?? [],
        force: [],
        deleteFirst: false,
        faults: [],
      };
      const errors: string[] = [];
      for (let round = 0; round < 4; round += 1) {
        await this.#step({ ...clean, type: "refresh" });
        errors.push((await this.#step(clean)) ?? "");
        if (errors.at(-1) === "") break;
        // A left-over of a resource that is in no program any more is only removed on demand.
        if (errors.at(-1)?.includes("of this stack")) await this.#sweep();
      }
      if (errors.at(-1) !== "")
        failures.push(`stack ${stack} does not come clean: ${errors.at(-1)}`);
    }
    const isStale = steps.some(
      (step) => "faults" in step && step.faults.some(({ kind }) => kind === "stale-list"),
    );
    const isKilled = steps.some((step) => "kill" in step && step.kill !== undefined);
    const lag = isStale ? (isKilled ? "killed" : "stale") : "none";
    const doubled = twins(this.#states, last, await this.#live(), lag);
    await this.#sweep();
    const live = await this.#live();
    await this.#third.close();
    return [
      ...touched,
      ...failures,
      ...doubled,
      ...this.#states.flatMap((state, stack) =>
        judge(stack, state, last[stack] ?? [], live, this.#weakness.settings !== undefined),
      ),
      ...strangers(this.#states, live),
    ];
  }

  /** Runs a step; gives back the error that ended it, if one did. */
  async #step(step: Step): Promise<string | undefined> {
    if (step.type === "up" || step.type === "refresh") return this.#engine(step);
    if (step.type === "foreign") return this.#makeForeign(step.name, step.variant);
    return this.#disturb(step.type, step.place);
  }

  async #engine(step: Extract<Step, { type: "up" | "refresh" }>): Promise<string | undefined> {
    const { settings, emulator } = this.#stage;
    const kill = step.type === "up" ? step.kill : undefined;
    const transport = faultyTransport(
      { faults: step.faults, kill },
      emulator.tokenUrl,
      this.#earlier,
    );
    const own = { ...settings, ...this.#weakness.settings };
    const connected = connectService(own, { clock: instantly(), transport, retry: quick });
    const service = this.#weakness.service?.(connected) ?? connected;
    const made = createRun(async () => ({ settings: own, service }));
    const state = this.#states[step.stack];
    if (!state) throw new Error("no such stack");
    const engine = new Engine(
      step.stack,
      state,
      this.#weakness.run?.(made) ?? made,
      this.#weakness.inputs,
    );
    const work =
      step.type === "up" ? engine.up(step.program, step.force, step.deleteFirst) : engine.refresh();
    try {
      await Promise.race([work, transport.death]);
      return undefined;
    } catch (error) {
      work.catch(() => undefined);
      return error instanceof Error ? error.message || error.name : String(error);
    } finally {
      await connected.close();
    }
  }

  async #makeForeign(name: Name, variant: number): Promise<undefined> {
    const definition = resources.find(({ kind }) => kind === world[name].kind);
    if (!definition || world[name].refers.length > 0) return undefined;
    const { basicAuth, ...values } = inputsOf(0, { name, variant, version: 9 }, () => "");
    const body = {
      ...values,
      ...(basicAuth ? { basicAuth, type: "basic" } : {}),
      description: "by hand",
    };
    await this.#third.create(definition, body).then(
      async ({ id }) => void this.#foreign.set(id, (await this.#third.read(definition, id)) ?? {}),
      () => undefined,
    );
    return undefined;
  }

  async #disturb(how: "remove" | "change", place: number): Promise<undefined> {
    const own = (await this.#live()).filter(({ object }) => !this.#foreign.has(String(object.id)));
    const target = own[place];
    if (!target) return undefined;
    const { definition, object } = target;
    const { id, created: _, ...rest } = object;
    const done =
      how === "remove"
        ? this.#third.remove(definition, String(id))
        : this.#third.replace(definition, String(id), { ...rest, active: false });
    await done.catch(() => undefined);
    return undefined;
  }

  async #live(): Promise<Live> {
    const lists = await Promise.all(
      resources.map(async (definition) => {
        const { objects } = await this.#third.list(definition, { fresh: true });
        return [...objects.values()].map((object) => ({ definition, object: object as Json }));
      }),
    );
    return lists.flat();
  }

  async #changedForeign(): Promise<string[]> {
    const live = await this.#live();
    return [...this.#foreign].flatMap(([id, before]) => {
      const now = live.find(({ object }) => object.id === id)?.object;
      return JSON.stringify(now) === JSON.stringify(before)
        ? []
        : [`foreign object ${id} was ${now ? "changed" : "destroyed"}`];
    });
  }

  /** The strangers step aside, so that every program can come clean. */
  async #freeNames(): Promise<void> {
    for (const { definition, object } of await this.#live()) {
      if (this.#foreign.has(String(object.id)))
        await this.#third.remove(definition, String(object.id)).catch(() => undefined);
    }
    this.#foreign.clear();
  }

  async #sweep(): Promise<void> {
    const session = { settings: this.#stage.settings, service: this.#third };
    for (const { ownership, entries } of this.#states) {
      const known = new Set([...entries.values()].map(({ id }) => id));
      for (const { definition, id } of await orphansOf(session, resources, ownership, known)) {
        await this.#third.remove(definition, id).catch(() => undefined);
      }
    }
  }
}

/** Plays a scenario on an empty service; gives back what is wrong in the end. */
export const play = async (
  stage: Stage,
  scenario: Scenario,
  weakness: Weakness = {},
): Promise<string[]> => {
  await fetch(`${stage.emulator.controlUrl}/reset`, { method: "POST" });
  return new Play(stage, weakness).run(scenario);
};
