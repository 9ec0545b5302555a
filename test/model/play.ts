import { type Emulator, startEmulator } from "../../emulator/index.js";
import type { Clock } from "../../provider/kernel/clock.js";
import { createRun, type Run } from "../../provider/lifecycle/run.js";
import { connectService } from "../../provider/service/connect.js";
import type { HttpResponse } from "../../provider/service/http/transport.js";
import type { Settings } from "../../provider/service/setting-table.js";
import { type Door, doorOfTests } from "../support/door.js";
import { settingsOf } from "../support/emulated.js";
import { Console } from "./console.js";
import { Engine, type ModelState, newState } from "./engine.js";
import { faultyTransport, Killed } from "./faulty-transport.js";
import { withOddObjects } from "./odd-objects.js";
import { killed } from "./one-run.js";
import { playScenario } from "./played-scenario.js";
import { type ModelSetting, plainSetting, type Scenario, type StateEdit } from "./scenario.js";
import type { EngineStep, RunEnding, Stacks, Took } from "./stacks.js";
import { editStates, sightOf } from "./state-edits.js";
import { ThirdParty } from "./third-party.js";
import type { HeldEntry } from "./verdict.js";

/** One service, reused by all scenarios. */
export interface ModelStage {
  readonly emulator: Emulator;
  readonly settings: Settings;
  readonly door: Door;
}

export const openStage = async (door = doorOfTests): Promise<ModelStage> => {
  const emulator = await startEmulator({ clock: "manual" });
  return { emulator, settings: settingsOf(emulator), door };
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

const said = (error: unknown): string => {
  if (error instanceof Killed) return killed;
  return error instanceof Error ? error.message || error.name : String(error);
};

const quick = { minTimeoutMs: 0, maxTimeoutMs: 0 };

/** The settings that go with the world around a history. */
const settingsIn = (settings: Settings, { put, marks }: ModelSetting): Settings => ({
  ...settings,
  ...(put === "keep" ? { put } : {}),
  ownershipMark: marks,
});

/** Both stacks under the model of the engine. */
export class ModelStacks implements Stacks {
  readonly #emulator: Emulator;
  readonly #settings: Settings;
  readonly #setting: ModelSetting;
  readonly #door: Door;
  readonly #states: readonly ModelState[] = [newState(), newState()];
  readonly #earlier = new Map<string, HttpResponse>();

  constructor({ emulator, settings, door }: ModelStage, setting: ModelSetting) {
    this.#emulator = emulator;
    this.#settings = settingsIn(settings, setting);
    this.#setting = setting;
    this.#door = door;
  }

  held(): readonly HeldEntry[] {
    return this.#states.map(({ ownership, former, entries }) => {
      const there = [...entries.values()].filter(({ gone }) => !gone);
      return {
        ownership,
        former: [...former],
        ids: new Map(there.map(({ name, id }) => [name, id])),
        described: new Set(
          there.filter(({ outputs }) => outputs.description !== undefined).map(({ id }) => id),
        ),
      };
    });
  }

  edit(step: StateEdit): boolean {
    return editStates(this.#states, step);
  }

  async run(step: EngineStep): Promise<Took> {
    const { tokenUrl } = this.#emulator;
    const kill = step.type === "up" ? step.kill : undefined;
    const list = this.#setting.odd ? { list: withOddObjects } : {};
    const transport = faultyTransport(
      { faults: step.faults, kill, ...list },
      tokenUrl,
      this.#earlier,
    );
    const settings = this.#settings;
    const service = connectService(settings, { clock: instantly(), transport, retry: quick });
    const run = createRun(async () => ({ settings, service }), {
      settings: () => settings,
      ...(this.#setting.sight ? { states: sightOf(this.#states, step.stack) } : {}),
      notify: () => undefined,
    });
    const work = this.#work(step, run);
    work.catch(() => undefined);
    const error = await Promise.race([work, transport.death]).then(() => "", said);
    await service.close();
    return { error, calls: transport.calls, made: transport.made };
  }

  #work(step: EngineStep, run: Run): Promise<void> {
    const state = this.#states[step.stack];
    if (!state) throw new Error("no such stack");
    const engine = new Engine(step.stack, state, run, this.#door);
    return step.type === "up" ? engine.up(step) : engine.refresh();
  }
}

/** Plays a scenario on an empty service, with these stacks. */
export const playWith = async (
  { emulator, settings }: ModelStage,
  stacks: Stacks,
  scenario: Scenario,
): Promise<RunEnding> => {
  const { setting = plainSetting } = scenario;
  const { secrets } = setting;
  const put = setting.put === "replace" ? "replace" : "keep";
  const console = new Console(emulator.controlUrl);
  await console.reset({ secrets, put });
  const third = new ThirdParty(settings, console, emulator.advance);
  try {
    const own = settingsIn(settings, setting);
    return await playScenario(stacks, third, scenario, own);
  } finally {
    await third.close();
  }
};

/** The same under the model of the engine. */
export const play = (stage: ModelStage, scenario: Scenario): Promise<RunEnding> =>
  playWith(stage, new ModelStacks(stage, scenario.setting ?? plainSetting), scenario);
