import { isDeepStrictEqual } from "node:util";
import { bodyOf } from "../../provider/definition/wire.js";
import { readMark } from "../../provider/lifecycle/ownership.js";
import { markOf } from "../../provider/lifecycle/resource.js";
import { waitOutRefusals } from "../../provider/pacing/pacer.js";
import { resources } from "../../provider/resources/index.js";
import { connectService } from "../../provider/service/connect.js";
import { Console, type LiveObject } from "./console.js";
import type { MovingHistory } from "./moves.js";
import { killed } from "./one-run.js";
import { ModelStacks, type ModelStage } from "./play.js";
import {
  type ModelResource,
  modelResources,
  type Name,
  plainSetting,
  type StateEdit,
} from "./scenario.js";
import type { EngineUp, RunEnding, Stacks, Took } from "./stacks.js";
import { movedName, siblingOf } from "./state-edits.js";
import { declaredInputs, shownPlace } from "./values.js";

/** A resource of a state. */
interface Held {
  readonly stack: number;
  readonly name: Name;
  readonly id: string;
  readonly owner: string;
}

/** States and service between two steps. */
interface Moment {
  readonly held: readonly Held[];
  /** Ids of objects in the states, those that replacements left there included. */
  readonly known: ReadonlySet<string>;
  readonly live: ReadonlyMap<string, LiveObject & Pick<ModelResource, "profile">>;
}

const shown = ({ stack, name }: Held): string => shownPlace(stack, name);

const holdersOf = ({ held }: Moment, id: string): readonly Held[] =>
  held.filter((each) => each.id === id);

/** The resource that an object was written for last, as its description tells. */
const writerOf = ({ object }: LiveObject): string | undefined =>
  /\nof (.*)$/.exec(String(readMark(object.description).description))?.[1];

const markedFor = ({ object }: LiveObject): string | undefined =>
  readMark(object.description).mark?.resource;

const isOf = (object: LiveObject, { name, owner }: Held): boolean =>
  markedFor(object) === markOf(modelResources[name].kind, owner).resource;

/** Whose objects may be whose after a step. */
interface Step {
  readonly stack: number;
  /** The resources that stand for one of before by now; none where the program has let it go. */
  heirsOf(held: Held): readonly Name[];
  /** Resources that go to another account. */
  readonly movesAway: (name: Name, profile: ModelResource["profile"]) => boolean;
  readonly isKilled: boolean;
  readonly isForced: boolean;
}

/** What has happened to a resource that a person takes hold of in the state. */
const editedStep = ({ type, stack, name }: StateEdit): Step => {
  const to = { rename: siblingOf(name), move: movedName(name), forget: undefined }[type];
  const heirsOf = (held: Held) =>
    held.stack === stack && held.name === name ? (to ? [to] : []) : [held.name];
  return { stack, isKilled: false, isForced: false, heirsOf, movesAway: () => false };
};

const runStep = (
  { stack, program, aliases, force }: EngineUp,
  took: Took,
  before: Moment,
): Step => {
  const known = new Set(before.held.filter((each) => each.stack === stack).map(({ name }) => name));
  const former = ({ name }: ModelResource) =>
    known.has(name) ? name : aliases?.[name]?.find((each) => known.has(each));
  const heirsOf = (held: Held) =>
    held.stack === stack
      ? program.filter((each) => former(each) === held.name).map(({ name }) => name)
      : [held.name];
  const movesAway: Step["movesAway"] = (name, profile) =>
    program.some((each) => each.name === name && each.profile !== profile);
  const isKilled = took.error === killed;
  return { stack, heirsOf, movesAway, isKilled, isForced: force.length > 0 };
};

/** A history of moves under way. */
class PlayedMoves {
  readonly took: Took[] = [];
  readonly wrong: string[] = [];
  readonly #stacks: Stacks;
  readonly #accounts: readonly [near: Console, far: Console];
  readonly #ids: ReadonlyMap<Name, string>;
  /** Resources that have stood for each object. */
  readonly #past = new Map<string, Set<string>>();
  /** Ids of objects that may be in no state: their resources were told to leave them, or a run was killed. */
  readonly #loose: Set<string>;
  /** Ids of objects whose resources have been told to leave them. */
  readonly #retained = new Set<string>();

  constructor(
    stacks: Stacks,
    accounts: readonly [near: Console, far: Console],
    ids: ReadonlyMap<Name, string>,
  ) {
    this.#stacks = stacks;
    this.#accounts = accounts;
    this.#ids = ids;
    this.#loose = new Set(ids.values());
  }

  async #moment(): Promise<Moment> {
    const held = this.#stacks
      .held()
      .flatMap(({ ids, owners }, stack) =>
        [...ids].map(([name, id]) => ({ stack, name, id, owner: owners?.get(name) ?? "" })),
      );
    const known = new Set(this.#stacks.held().flatMap(({ all }) => [...(all ?? [])]));
    const [near, far] = await Promise.all(this.#accounts.map((account) => account.live()));
    const all = [
      ...(near ?? []),
      ...(far ?? []).map((each) => ({ ...each, profile: "far" as const })),
    ];
    return { held, known, live: new Map(all.map((each) => [each.id, each])) };
  }

  async take(step: EngineUp | StateEdit): Promise<void> {
    if (step.type === "up") return void (await this.#up(step));
    const before = await this.#moment();
    if (!(await this.#stacks.edit?.(step))) return;
    const after = await this.#moment();
    if (step.type === "forget")
      for (const { id } of before.held) if (holdersOf(after, id).length === 0) this.#loose.add(id);
    this.#judge(before, after, editedStep(step));
  }

  async #up(step: EngineUp): Promise<Took> {
    const before = await this.#moment();
    const took = await this.#stacks.run({ ...step, ids: this.#ids });
    this.took.push(took);
    const after = await this.#moment();
    if (took.isRefused && !isDeepStrictEqual(before, after))
      this.wrong.push(`a refused step changed something: ${took.error}`);
    this.#judge(before, after, runStep(step, took, before));
    const retained = step.program.filter(({ retainOnDelete }) => retainOnDelete);
    for (const { stack, name, id } of after.held)
      if (stack === step.stack && retained.some((each) => each.name === name))
        this.#retained.add(id);
    return took;
  }

  #judge(before: Moment, after: Moment, step: Step): void {
    const say = (text: string): void => void this.wrong.push(`step ${this.took.length}: ${text}`);
    for (const held of before.held) this.#judgeHeld(held, before, after, step, say);
    for (const held of after.held) {
      const { id } = held;
      this.#past.set(id, (this.#past.get(id) ?? new Set()).add(shown(held)));
      if (holdersOf(after, id).length > 1) say(`${shown(held)} holds ${id} as another one does`);
      const [was, is] = [before.live.get(id), after.live.get(id)];
      if (was && !before.known.has(id) && !isOf(was, held))
        say(`${shown(held)} has taken ${id} of nobody, which was not its own`);
      const writer = is && writerOf(is);
      if (writer && !this.#past.get(id)?.has(writer))
        say(`${id} of ${shown(held)} was changed by ${writer}`);
    }
    this.#judgeLoose(before, after, step, say);
  }

  #judgeHeld(held: Held, before: Moment, after: Moment, step: Step, say: (text: string) => void) {
    const { id, name } = held;
    const heirs = step.heirsOf(held);
    const past = this.#past.get(id);
    for (const heir of heirs) past?.add(shownPlace(held.stack, heir));
    const now = holdersOf(after, id);
    const taker = now.find((each) => each.name !== name && !heirs.includes(each.name));
    if (taker) say(`${shown(held)} had ${id}, and ${shown(taker)} has it now`);
    const was = before.live.get(id);
    const isAway = was && step.isForced && heirs.some((heir) => step.movesAway(heir, was.profile));
    if (heirs.length > 0 && was && !after.live.has(id) && !isAway)
      say(`${id} of ${shown(held)} is still declared and was deleted`);
    if (heirs.length > 0 && now.length === 0 && !step.isForced)
      say(`${id} of ${shown(held)} is still declared and in no state`);
    if (now.length === 0 && this.#retained.has(id)) this.#loose.add(id);
  }

  /** What no state holds stays as it is, but for leftovers of resources that have another object. */
  #judgeLoose(before: Moment, after: Moment, { isKilled }: Step, say: (text: string) => void) {
    for (const [id, object] of after.live) {
      // What a replacement spared and did not make again the engine forgets with its resource.
      if (after.known.has(id) && holdersOf(after, id).length === 0) this.#loose.add(id);
      if (after.known.has(id)) continue;
      const was = before.live.get(id);
      if (isKilled) this.#loose.add(id);
      else if (!this.#loose.has(id)) say(`${id} is in no state any more`);
      else if (was && !before.known.has(id) && !isDeepStrictEqual(was, object))
        say(`${id} is in no state and was changed`);
    }
    for (const [id, object] of before.live) {
      const isNobodys = !before.known.has(id) && !after.live.has(id);
      if (isNobodys && !after.held.some((held) => isOf(object, held)))
        say(`${id} was in no state and was deleted`);
    }
  }

  /** The states as they are, declared by programs without further ado. */
  async #correct(stack: 0 | 1, version: number): Promise<EngineUp> {
    const { held, live } = await this.#moment();
    const program = held
      .filter((each) => each.stack === stack)
      .map(({ name, id }): ModelResource => {
        const { object, profile } = live.get(id) ?? {};
        const { name: called, type } = object ?? {};
        const variant = Number(/^moving-(\d)$/.exec(String(called ?? type))?.[1] ?? 0);
        return { name, variant, version, profile };
      });
    return { type: "up", stack, program, force: [], deleteFirst: false, faults: [] };
  }

  /** A later correct program comes clean: each object is its resource's, marked and written by it. */
  async comeClean(): Promise<void> {
    for (const stack of [0, 1] as const) {
      const before = await this.#moment();
      const own = before.held.filter((each) => each.stack === stack);
      if (own.length === 0) continue;
      if (own.some(({ id }) => !before.live.has(id)))
        this.took.push(await this.#stacks.run({ type: "refresh", stack, faults: [] }));
      const { error } = await this.#up(await this.#correct(stack, 9));
      if (error !== "") this.wrong.push(`stack ${stack} does not come clean: ${error}`);
      const { held, live } = await this.#moment();
      for (const each of held.filter((one) => one.stack === stack)) {
        const object = live.get(each.id);
        const isClean = object && writerOf(object) === shown(each) && isOf(object, each);
        if (!isClean)
          this.wrong.push(`${shown(each)} is not clean: ${JSON.stringify(object?.object)}`);
      }
    }
  }

  /** Nothing is left to do, and an empty program leaves nothing but what is nobody's. */
  async end(): Promise<void> {
    for (const stack of [0, 1] as const) {
      const before = await this.#moment();
      const { calls } = await this.#up(await this.#correct(stack, 9));
      const writes = calls.filter((call) => !call.startsWith("GET "));
      if (writes.length > 0) this.wrong.push(`stack ${stack} is not at rest: ${writes.join()}`);
      await this.#up({ ...(await this.#correct(stack, 9)), program: [] });
      const { live } = await this.#moment();
      for (const each of before.held)
        if (each.stack === stack && live.has(each.id))
          this.wrong.push(`${shown(each)} is left over`);
    }
  }
}

/** The application of a person that every program names by its id. */
const givenIds = async ({ settings }: ModelStage): Promise<ReadonlyMap<Name, string>> => {
  const service = connectService(settings, { pace: waitOutRefusals() });
  const ids = new Map<Name, string>();
  for (const name of ["auth1", "app1"] as const) {
    const definition = resources.find(({ kind }) => kind === modelResources[name].kind);
    if (!definition) continue;
    const inputs = declaredInputs(0, { name, variant: 9, version: 0 }, (of) => ids.get(of) ?? "");
    const type = name === "auth1" ? { type: "basic" } : {};
    const { id } = await service.create(
      definition,
      bodyOf(definition, { ...inputs, ...type }, settings),
    );
    ids.set(name, id);
  }
  await service.close();
  return ids;
};

/**
 * Plays a history on an empty service, with these stacks.
 *
 * @param isWhole whether the stacks are taken to their end
 */
export const playMovesWith = async (
  stage: ModelStage,
  stacks: Stacks,
  history: MovingHistory,
  isWhole = false,
): Promise<RunEnding> => {
  const near = new Console(stage.emulator);
  const far = new Console(stage.far);
  await near.reset({});
  // The application that programs name is in the other account.
  await far.reset({ unknownReference: "accept" });
  const played = new PlayedMoves(stacks, [near, far], await givenIds(stage));
  for (const step of history) await played.take(step);
  await played.comeClean();
  if (isWhole) await played.end();
  return played;
};

/** The same under the model of the engine. */
export const playMoves = (
  stage: ModelStage,
  history: MovingHistory,
  isWhole = true,
): Promise<RunEnding> =>
  playMovesWith(
    stage,
    new ModelStacks({ ...stage, door: "dynamic" }, plainSetting, true),
    history,
    isWhole,
  );
