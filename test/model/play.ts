import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { type Emulator, startEmulator } from "../../emulator/index.js";
import { createRun, type Run } from "../../provider/lifecycle/run.js";
import type { Clock } from "../../provider/service/clock.js";
import { connectService, type Service } from "../../provider/service/connect.js";
import { readSettings, type Settings } from "../../provider/service/settings.js";
import type { HttpResponse } from "../../provider/service/transport.js";
import { type Ending, type EngineStep, playCourse, type Stacks, type Took } from "./course.js";
import { Engine, newState, type State } from "./engine.js";
import { faultyTransport } from "./faulty-transport.js";
import type { Scenario } from "./scenario.js";
import { ThirdParty } from "./third-party.js";
import type { Held } from "./verdict.js";

/** Ways to weaken one rule, for the proof that the test would notice. */
export interface Weakness {
  readonly settings?: Partial<Settings>;
  readonly run?: (run: Run) => Run;
  readonly service?: (service: Service) => Service;
  /** Further inputs of every resource. */
  readonly inputs?: Record<string, unknown>;
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

const said = (error: unknown): string =>
  error instanceof Error ? error.message || error.name : String(error);

const quick = { minTimeoutMs: 0, maxTimeoutMs: 0 };

/** Both stacks under the model of the engine. */
export class ModelStacks implements Stacks {
  readonly #stage: Stage;
  readonly #weakness: Weakness;
  readonly #states: readonly State[] = [newState(), newState()];
  readonly #earlier = new Map<string, HttpResponse>();

  constructor(stage: Stage, weakness: Weakness = {}) {
    this.#stage = stage;
    this.#weakness = weakness;
  }

  held(): readonly Held[] {
    return this.#states.map(({ ownership, former, entries }) => ({
      ownership,
      former,
      ids: new Map(
        [...entries].flatMap(([name, { id, gone }]) => (gone ? [] : [[name, id] as const])),
      ),
    }));
  }

  async run(step: EngineStep): Promise<Took> {
    const { settings, emulator } = this.#stage;
    const kill = step.type === "up" ? step.kill : undefined;
    const plan = { faults: step.faults, kill };
    const transport = faultyTransport(plan, emulator.tokenUrl, this.#earlier);
    const own = { ...settings, ...this.#weakness.settings };
    const connected = connectService(own, { clock: instantly(), transport, retry: quick });
    const service = this.#weakness.service?.(connected) ?? connected;
    const made = createRun(async () => ({ settings: own, service }));
    const work = this.#work(step, this.#weakness.run?.(made) ?? made);
    work.catch(() => undefined);
    const error = await Promise.race([work, transport.death]).then(() => "", said);
    await connected.close();
    return { error, calls: transport.calls };
  }

  #work(step: EngineStep, run: Run): Promise<void> {
    const state = this.#states[step.stack];
    if (!state) throw new Error("no such stack");
    const engine = new Engine(step.stack, state, run, this.#weakness.inputs);
    return step.type === "up"
      ? engine.up(step.program, step.force, step.deleteFirst)
      : engine.refresh();
  }
}

/** Plays a scenario on an empty service, with these stacks. */
export const playWith = async (
  { emulator, settings }: Stage,
  stacks: Stacks,
  scenario: Scenario,
  areFieldsFree = false,
): Promise<Ending> => {
  await fetch(`${emulator.controlUrl}/reset`, { method: "POST" });
  const third = new ThirdParty(settings);
  try {
    return await playCourse(stacks, third, scenario, areFieldsFree);
  } finally {
    await third.close();
  }
};

/** The same under the model of the engine. */
export const play = (stage: Stage, scenario: Scenario, weakness: Weakness = {}): Promise<Ending> =>
  playWith(stage, new ModelStacks(stage, weakness), scenario, weakness.settings !== undefined);
