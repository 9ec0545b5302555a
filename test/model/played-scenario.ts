import type { Settings } from "../../provider/service/settings.js";
import { type Adopted, adoptionOf, judgeRun } from "./one-run.js";
import { Rescue } from "./rescue.js";
import {
  type ByHand,
  type ModelResource,
  type ModelSetting,
  type ModelStep,
  modelResources,
  type Name,
  names,
  plainSetting,
  type Scenario,
  type StateEdit,
  type Up,
} from "./scenario.js";
import type { EngineStep, EngineUp, RunEnding, Stacks, Took } from "./stacks.js";
import type { ThirdParty } from "./third-party.js";
import {
  doubledObjects,
  foreignHeld,
  type HeldEntry,
  isMarked,
  judge,
  type Known,
  lost,
  mayLackMark,
  shared,
} from "./verdict.js";

const cleanRounds = 10;
const both = [0, 1] as const;

/** A history under way. */
class PlayedScenario {
  readonly #stacks: Stacks;
  readonly #third: ThirdParty;
  readonly #vague = new Set<Name>();
  readonly #adopted = new Set<string>();
  readonly #wrong: string[] = [];
  readonly #setting: ModelSetting;
  readonly took: Took[] = [];

  constructor(stacks: Stacks, third: ThirdParty, setting: ModelSetting = plainSetting) {
    this.#setting = setting;
    this.#stacks = stacks;
    this.#third = third;
  }

  async run(scenario: Scenario, settings: Settings): Promise<string[]> {
    const { steps, last } = scenario;
    const setting = this.#setting;
    for (const step of steps) await this.#step(step);
    // What an ownership left behind that went with the last resource only its mark tells of.
    await this.#sweep(({ former }) => former);
    const failures = await this.#comeClean(last);
    if (failures.length === 0) failures.push(...(await this.#rest()));
    const known = async (): Promise<Known> => ({
      ...{ setting, settings, vague: this.#vague, adopted: this.#adopted },
      live: await this.#third.live(),
      notOurs: await this.#notOurs(),
    });
    const held = this.#stacks.held();
    const doubled = doubledObjects(held, last, await known(), lagOf(steps));
    await this.#third.leave(held);
    // What has no mark may hold what `orphans` removes: its refusal names it, and a person looks.
    for (const id of [...(await this.#notOurs())].reverse()) await this.#third.removeStray(id);
    await this.#sweep();
    const end = await known();
    return [
      ...this.#wrong,
      ...this.#third.wrong,
      ...failures,
      ...doubled,
      ...shared(held),
      ...held.flatMap((each, stack) => judge(stack, each, last[stack] ?? [], end)),
      ...foreignHeld(held, end),
      ...lost(this.#third.set, end.live),
    ];
  }

  /** A person's objects, and those without a mark that a run which was cut off may have left. */
  async #notOurs(): Promise<ReadonlySet<string>> {
    const held = this.#stacks.held();
    const known = new Set(held.flatMap(({ ids }) => [...ids.values()]));
    const strays = (await this.#third.live()).filter(
      (each) => !known.has(each.id) && !isMarked(held, each) && mayLackMark(each, this.#setting),
    );
    return new Set([...this.#third.own, ...strays.map(({ id }) => id)]);
  }

  async #step(step: ModelStep): Promise<void> {
    switch (step.type) {
      case "up":
        return void (await this.#up(step, await adoptionOf(step, this.#stacks, this.#third)));
      case "refresh":
        return void (await this.#run(step));
      case "rename":
      case "move":
      case "forget":
        return this.#edit(step);
      default:
        return this.#byHand(step);
    }
  }

  #edit(step: StateEdit): void {
    if (!this.#stacks.edit?.(step)) return;
    for (const name of names)
      if (modelResources[name].kind === modelResources[step.name].kind) this.#vague.add(name);
  }

  async #byHand(step: ByHand): Promise<void> {
    await this.#third.take(step, this.#stacks.held());
  }

  async #up({ adopt: _, ...step }: Up & Partial<EngineUp>, adopted: Adopted): Promise<Took> {
    const before = { held: this.#stacks.held(), live: await this.#third.live() };
    this.#forgive(step, before.held);
    const took = await this.#run({ ...step, adopts: adopted.adopts });
    const held = this.#stacks.held();
    await this.#third.look(adopted.candidates, held);
    for (const [name, id] of held.flatMap(({ ids }) => [...ids]))
      if (this.#third.counterparts.has(id)) this.#vague.add(name);
    const after = { held, live: await this.#third.live() };
    this.#wrong.push(...judgeRun(step, took, before, after, this.#third.own, this.#setting));
    for (const { name, more = 0, text = "short" } of step.program) {
      const isDeclared = more > 0 || text !== "none";
      // A forced replacement that is cut off leaves no state that tells what was declared before.
      const isVague = took.error !== "" && (isDeclared || step.force.includes(name));
      const isAdopted = adopted.adopts.has(name);
      if (isVague || isAdopted) this.#vague.add(name);
      if (isAdopted) this.#adopted.add(held[step.stack]?.ids.get(name) ?? "");
    }
    return took;
  }

  /** What a program declares is no more a person's, and who reads old lists may write what was. */
  #forgive(
    { program, stack, faults, eraseHidden = false }: Omit<Up, "type" | "adopt">,
    held: readonly HeldEntry[],
  ): void {
    const silent = new Set(
      program.flatMap(({ name, text }) =>
        text === "none" ? (held[stack]?.ids.get(name) ?? []) : [],
      ),
    );
    const others = new Set([...(held[1 - stack]?.ids.values() ?? [])]);
    const isStale = faults.some(({ kind }) => kind === "stale-list");
    const mayErase = eraseHidden && this.#setting.secrets !== "echo";
    this.#third.forgive(
      ({ id, member: { isDescription, isSecret } }) =>
        isStale ||
        (mayErase && isSecret) ||
        (isDescription !== undefined && !silent.has(id) && !others.has(id)),
    );
  }

  async #run(step: EngineStep): Promise<Took> {
    const took = await this.#stacks.run(step);
    this.took.push(took);
    return took;
  }

  /** Refresh and up without faults until both stacks are as declared; gives back what is wrong if they do not get there. */
  async #comeClean(last: Scenario["last"]): Promise<string[]> {
    this.#rescue = new Rescue(this.#stacks, this.#third, this.#setting.sight, () => this.#sweep());
    let errors: string[] = [];
    for (let round = 0; round < cleanRounds; round += 1) {
      errors = [];
      for (const stack of both) {
        const { error } = await this.#clean(stack, last[stack]);
        if (error === "") continue;
        errors.push(`stack ${stack} does not come clean: ${error}`);
        await this.#rescue.after(error, stack, last[stack]);
      }
      if (errors.length === 0) return [];
    }
    return errors;
  }

  #rescue: Rescue | undefined;
  #last: Scenario["last"] = [[], []];

  async #clean(stack: 0 | 1, program: readonly ModelResource[]): Promise<Took> {
    this.#last = stack === 0 ? [program, this.#last[1]] : [this.#last[0], program];
    await this.#run({ type: "refresh", stack, faults: [] });
    const help = this.#rescue?.help(stack);
    const adopts = help?.adopts ?? new Map();
    const adopted = { adopts, candidates: new Set(adopts.values()) };
    const plain = {
      type: "up",
      stack,
      force: [],
      deleteFirst: false,
      faults: [],
      ...help,
    } as const;
    const swapped = program.map((each) =>
      help?.between.has(each.name) ? { ...each, variant: 2 } : each,
    );
    if (help?.between.size) await this.#up({ ...plain, program: swapped }, adopted);
    help?.between.clear();
    return this.#up({ ...plain, program }, adopted);
  }

  /** Once more: nothing is left to do. */
  async #rest(): Promise<string[]> {
    const wrong: string[] = [];
    for (const stack of both) {
      const { error, calls } = await this.#clean(stack, this.#last[stack]);
      const writes = calls.filter((call) => !call.startsWith("GET "));
      if (error !== "") wrong.push(`stack ${stack} does not stay clean: ${error}`);
      if (writes.length > 0) wrong.push(`stack ${stack} does not come to rest: ${writes.join()}`);
    }
    return wrong;
  }

  async #sweep(
    ownershipsOf = ({ ownership, former }: HeldEntry): readonly string[] => [...former, ownership],
  ): Promise<void> {
    const states = this.#stacks.held();
    const known = new Set(states.flatMap(({ ids }) => [...ids.values()]));
    for (const held of states)
      for (const ownership of ownershipsOf(held)) await this.#third.sweep(ownership, known);
  }
}

/** Whether lists were behind the truth, or refused, in a history, and whether a run was killed as well. */
const lagOf = (steps: readonly ModelStep[]): "none" | "stale" | "killed" => {
  const faults = steps.flatMap((step) => ("faults" in step ? step.faults : []));
  const isStale = faults.some(({ kind }) => kind === "stale-list");
  const isRefused = faults.some(({ kind }) => kind === "forbidden");
  const isKilled = steps.some((step) => "kill" in step && step.kill !== undefined);
  if (isKilled && (isStale || isRefused)) return "killed";
  return isStale ? "stale" : "none";
};

/** Plays a scenario on an empty service: its steps, then clean runs of the last programs. */
export const playScenario = async (
  stacks: Stacks,
  third: ThirdParty,
  scenario: Scenario,
  settings: Settings,
): Promise<RunEnding> => {
  const played = new PlayedScenario(stacks, third, scenario.setting);
  return { wrong: await played.run(scenario, settings), took: played.took };
};
