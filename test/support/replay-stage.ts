import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import type { HttpResponse } from "../../provider/service/http/transport.js";
import { type ModelStage, openStage, playWith } from "../model/play.js";
import type { Scenario } from "../model/scenario.js";
import type { EngineStep, RunEnding, Stacks, Took } from "../model/stacks.js";
import type { HeldEntry } from "../model/verdict.js";
import { startReplayProxy } from "./replay-proxy.js";
import { type ReplayService, ReplayStack, type Tally } from "./replay-stack.js";
import { withoutPace } from "./without-pace.js";

/** Both stacks of a scenario under the real engine: same project, same name, a state each. */
class ReplayStacks implements Stacks {
  readonly #stacks: readonly ReplayStack[];
  readonly #earlier = new Map<string, HttpResponse>();

  constructor(stacks: readonly ReplayStack[]) {
    this.#stacks = stacks;
  }

  held(): readonly HeldEntry[] {
    return this.#stacks.map((stack) => stack.held());
  }

  async run(step: EngineStep): Promise<Took> {
    const stack = this.#stacks[step.stack];
    if (!stack) throw new Error("no such stack");
    return stack.run(step, this.#earlier);
  }
}

/** The model's stage, and beside it the real engine. */
export interface ReplayStage {
  readonly stage: ModelStage;
  readonly tally: Tally;
  /** Plays a scenario through the real engine. */
  replay(scenario: Scenario): Promise<RunEnding>;
  close(): Promise<void>;
}

const serviceOf = async ({ emulator }: ModelStage): Promise<ReplayService> => {
  const { origin, pathname } = new URL(emulator.baseUrl);
  const proxy = await startReplayProxy(origin);
  const access = { ...emulator, baseUrl: proxy.origin + pathname };
  return {
    proxy,
    tokenUrl: emulator.tokenUrl,
    // Nothing here is about rates: no call waits for its turn.
    environment: { ...emulatorEnvironment(access), ...withoutPace },
    tally: { runs: 0, kills: 0, faults: 0, forced: 0 },
  };
};

export const openReplayStage = async (): Promise<ReplayStage> => {
  const stage = await openStage();
  const service = await serviceOf(stage);
  const stacks = [await ReplayStack.open(service), await ReplayStack.open(service)];
  return {
    stage,
    tally: service.tally,
    replay: (scenario) => {
      for (const stack of stacks) stack.reset();
      return playWith(stage, new ReplayStacks(stacks), scenario);
    },
    close: async () => {
      for (const stack of stacks) stack.remove();
      await service.proxy.close();
      await stage.emulator.close();
    },
  };
};
