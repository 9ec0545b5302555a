import { type Emulator, startEmulator } from "../../emulator/index.js";
import type { Clock } from "../../provider/kernel/clock.js";
import { isObject, type JsonObject as Json } from "../../provider/kernel/json.js";
import { createRun, type Run } from "../../provider/lifecycle/run.js";
import { waitOutRefusals } from "../../provider/pacing/pacer.js";
import { connectService } from "../../provider/service/connect.js";
import type { Settings } from "../../provider/service/settings.js";
import type { HttpResponse, Transport } from "../../provider/service/transport.js";
import { type Door, doorOfTests } from "../support/door.js";
import { settingsOf } from "../support/emulated.js";
import { Console } from "./console.js";
import { Engine, type ModelState, newState } from "./engine.js";
import { faultyTransport, Killed } from "./faulty-transport.js";
import { killed } from "./one-run.js";
import { playScenario } from "./played-scenario.js";
import {
  type ModelSetting,
  movingStacks,
  plainSetting,
  type Scenario,
  type StateEdit,
} from "./scenario.js";
import type { EngineStep, RunEnding, Stacks, Took } from "./stacks.js";
import { editStates, sightOf } from "./state-edits.js";
import { ThirdParty } from "./third-party.js";
import type { HeldEntry } from "./verdict.js";

/** Ids that no call can be made with. */
const odd: readonly Json[] = [{ id: 1007 }, { id: "a.b" }, {}];

/** The answer of a list with objects of others in it whose ids no call can use. */
const withOddObjects = (response: HttpResponse): HttpResponse => {
  const body: unknown = JSON.parse(response.text);
  if (!isObject(body) || !isObject(body.paginationInfo)) return response;
  const { paginationInfo, ...lists } = body;
  const [[key, items] = []] = Object.entries(lists);
  if (key === undefined || !Array.isArray(items)) return response;
  const page = { ...paginationInfo, count: Number(paginationInfo.count) + odd.length };
  const all = [...odd.map((each) => ({ name: "odd", type: "odd", ...each })), ...items];
  return { ...response, text: JSON.stringify({ paginationInfo: page, [key]: all }) };
};

/** One service, reused by all scenarios, and another account for those that move. */
export interface ModelStage {
  readonly emulator: Emulator;
  readonly far: Emulator;
  readonly settings: Settings;
  readonly door: Door;
  readonly close: () => Promise<unknown>;
}

export const openStage = async (door = doorOfTests): Promise<ModelStage> => {
  const [emulator, far] = await Promise.all([
    startEmulator({ clock: "manual" }),
    startEmulator({ clock: "manual" }),
  ]);
  const close = () => Promise.all([emulator.close(), far.close()]);
  return { emulator, far, settings: settingsOf(emulator), door, close };
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
  readonly #stage: ModelStage;
  readonly #settings: Settings;
  readonly #setting: ModelSetting;
  readonly #states: readonly ModelState[];
  readonly #earlier = new Map<string, HttpResponse>();

  /** @param isMoving whether resources have both doors, and stacks names of their own */
  constructor(stage: ModelStage, setting: ModelSetting, isMoving = false) {
    this.#states = isMoving ? movingStacks.map(newState) : [newState(), newState()];
    this.#stage = stage;
    this.#settings = settingsIn(stage.settings, setting);
    this.#setting = setting;
  }

  held(): readonly HeldEntry[] {
    return this.#states.map(({ ownership, former, entries, pending }) => {
      const there = [...entries.values()].filter(({ gone }) => !gone);
      return {
        ownership,
        former: [...former],
        ids: new Map(there.map(({ name, id }) => [name, id])),
        all: new Set([...pending, ...entries.values()].map(({ id }) => id)),
        owners: new Map(there.map(({ name, outputs }) => [name, String(outputs.owner)])),
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
    const { emulator, far } = this.#stage;
    const kill = step.type === "up" ? step.kill : undefined;
    const list = this.#setting.odd ? { list: withOddObjects } : {};
    const transport = faultyTransport(
      { faults: step.faults, kill, ...list },
      [emulator.tokenUrl, far.tokenUrl],
      this.#earlier,
    );
    const went = async (isPreview = false): Promise<string> => {
      const work = this.#work(step, transport, isPreview);
      work.catch(() => undefined);
      return Promise.race([work, transport.death]).then(() => "", said);
    };
    const refusal = step.type === "up" && step.preview ? await went(true) : "";
    const error = refusal || (await went());
    await transport.close();
    return {
      ...{ error, calls: transport.calls, made: transport.made },
      isRefused: refusal !== "" && refusal !== killed,
    };
  }

  #work(step: EngineStep, transport: Transport, isPreview: boolean): Promise<void> {
    const state = this.#states[step.stack];
    if (!state) throw new Error("no such stack");
    const { far, door } = this.#stage;
    const settings = (profile?: string): Settings =>
      profile ? { ...settingsOf(far), profile } : this.#settings;
    // Each door has a process of its own.
    const [dynamic, plugin] = [false, true].map((isPlugins) => {
      const clock = instantly();
      const pace = waitOutRefusals({ clock });
      const connect = async (profile?: string) => {
        const account = settings(profile);
        const service = connectService(account, { clock, pace, transport, retry: quick });
        return { settings: account, service };
      };
      return createRun(connect, {
        settings,
        ...(this.#setting.sight ? { states: sightOf(this.#states, step.stack, door) } : {}),
        notify: () => undefined,
        isPlugins,
      });
    });
    const runs = { dynamic, plugin } as Readonly<Record<Door, Run>>;
    const engine = new Engine(step.stack, state, (of) => runs[of], door);
    return step.type === "up" ? engine.up(step, isPreview) : engine.refresh();
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
  const console = new Console(emulator);
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
