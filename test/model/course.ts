import type { Scenario, Step } from "./scenario.js";
import type { ThirdParty } from "./third-party.js";
import { type Held, judge, strangers, twins } from "./verdict.js";

/** A step that the engine takes. */
export type EngineStep = Extract<Step, { readonly type: "up" | "refresh" }>;

/** How a step of the engine went. */
export interface Took {
  /** The error that ended it; empty where there was none. */
  readonly error: string;
  /** The calls that it made, ids left out. */
  readonly calls: readonly string[];
}

/** How a scenario ended. */
export interface Ending {
  /** What is wrong in the end. */
  readonly wrong: readonly string[];
  /** Each step of the engine, in order. */
  readonly took: readonly Took[];
}

/** Both stacks of a scenario, and the engine that runs them. */
export interface Stacks {
  run(step: EngineStep): Promise<Took>;
  /** What the states hold now. */
  held(): readonly Held[];
}

const cleanRounds = 4;

class Course {
  readonly #stacks: Stacks;
  readonly #third: ThirdParty;
  readonly took: Took[] = [];

  constructor(stacks: Stacks, third: ThirdParty) {
    this.#stacks = stacks;
    this.#third = third;
  }

  async run({ steps, last }: Scenario, areFieldsFree: boolean): Promise<string[]> {
    for (const step of steps) await this.#step(step);
    const touched = await this.#third.changedForeign();
    await this.#third.freeNames();
    // What an ownership left behind that went with the last resource only its mark tells of.
    await this.#sweep(({ former }) => former);
    const failures: string[] = [];
    for (const stack of [0, 1] as const) failures.push(...(await this.#comeClean(stack, last)));
    const doubled = twins(this.#stacks.held(), last, await this.#third.live(), lagOf(steps));
    await this.#sweep();
    const live = await this.#third.live();
    const held = this.#stacks.held();
    return [
      ...touched,
      ...failures,
      ...doubled,
      ...held.flatMap((each, stack) => judge(stack, each, last[stack] ?? [], live, areFieldsFree)),
      ...strangers(held, live),
    ];
  }

  async #step(step: Step): Promise<void> {
    if (step.type === "up" || step.type === "refresh") await this.#run(step);
    else if (step.type === "foreign") await this.#third.make(step.name, step.variant);
    else await this.#third.disturb(step.type, step.place);
  }

  async #run(step: EngineStep): Promise<string> {
    const took = await this.#stacks.run(step);
    this.took.push(took);
    return took.error;
  }

  /** Refresh and up without faults until an up succeeds; gives back what is wrong if none does. */
  async #comeClean(stack: 0 | 1, last: Scenario["last"]): Promise<string[]> {
    let error = "";
    for (let round = 0; round < cleanRounds; round += 1) {
      await this.#run({ type: "refresh", stack, faults: [] });
      error = await this.#run({
        type: "up",
        stack,
        program: last[stack] ?? [],
        force: [],
        deleteFirst: false,
        faults: [],
      });
      if (error === "") return [];
      // A left-over of a resource that is in no program any more is only removed on demand.
      if (error.includes("of this stack")) await this.#sweep();
    }
    return [`stack ${stack} does not come clean: ${error}`];
  }

  async #sweep(
    ownershipsOf = ({ ownership, former }: Held): readonly string[] => [...former, ownership],
  ): Promise<void> {
    for (const held of this.#stacks.held()) {
      const known = new Set(held.ids.values());
      for (const ownership of ownershipsOf(held)) await this.#third.sweep(ownership, known);
    }
  }
}

/** Whether lists were behind the truth in a history, and whether a run was killed as well. */
const lagOf = (steps: readonly Step[]): "none" | "stale" | "killed" => {
  const isStale = steps.some(
    (step) => "faults" in step && step.faults.some(({ kind }) => kind === "stale-list"),
  );
  const isKilled = steps.some((step) => "kill" in step && step.kill !== undefined);
  return isStale ? (isKilled ? "killed" : "stale") : "none";
};

/**
 * Plays a scenario on an empty service: its steps, then clean runs of the last programs.
 *
 * @param areFieldsFree what the objects hold is not looked at, only which there are
 */
export const playCourse = async (
  stacks: Stacks,
  third: ThirdParty,
  scenario: Scenario,
  areFieldsFree = false,
): Promise<Ending> => {
  const course = new Course(stacks, third);
  return { wrong: await course.run(scenario, areFieldsFree), took: course.took };
};
