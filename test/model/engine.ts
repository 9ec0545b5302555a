import { randomUUID } from "node:crypto";
import { autoName } from "../../provider/definition/automatic-name.js";
import { setUpOrder } from "../../provider/definition/kinds.js";
import type { JsonObject as Json } from "../../provider/kernel/json.js";
import { ownerOf } from "../../provider/kernel/pulumi.js";
import type { Run } from "../../provider/lifecycle/run.js";
import { resources } from "../../provider/resources/index.js";
import { type Door, type DoorLifecycle, handedBack, lifecycleThrough } from "../support/door.js";
import { type Hooks, type ModelResource, modelResources, type Name, partsOf } from "./scenario.js";
import type { EngineUp } from "./stacks.js";
import { renameIn } from "./state-edits.js";
import { declaredInputs } from "./values.js";

export interface StateEntry {
  readonly name: Name;
  readonly kind: string;
  id: string;
  inputs: Json;
  outputs: Json;
  /** The object was made, but not completely. */
  incomplete: boolean;
  /** Deleted by a replacement that has not yet made it again. */
  gone?: boolean;
  /** Resources of the stack that it depends on, as the state has them. */
  refers: readonly Name[];
  protect?: boolean;
  retainOnDelete?: boolean;
}

/** What a stack's state file holds. */
export interface ModelState {
  ownership: string;
  /** That of the provider of resources that are the plugin's in a history through both doors. */
  pluginOwnership: string;
  /** Ownerships that went with the last resource of a program. */
  readonly former: string[];
  readonly entries: Map<Name, StateEntry>;
  /** Old objects of replacements that are still to be deleted. */
  readonly pending: StateEntry[];
  /** A person edited the state, and dependencies were lost. */
  isEdited?: boolean;
}

const newOwnership = (stack = "prod"): string => `shop/${stack}/${randomUUID()}`;

/** @param stack its name. Default: that of both stacks of a history that stays where it is */
export const newState = (stack?: string): ModelState => ({
  ownership: newOwnership(stack),
  pluginOwnership: newOwnership(stack),
  former: [],
  entries: new Map(),
  pending: [],
});

const rank = (order: readonly { kind: string }[], name: Name): number =>
  order.findIndex(({ kind }) => kind === modelResources[name].kind);

/** The engine's half of a life cycle, as it was seen to behave; state is saved after every step. */
export class Engine {
  readonly #lifecycles = new Map<string, DoorLifecycle>();
  readonly #aliased = new Set<Name>();
  readonly #seen = new Set<Name>();
  /** What the state holds when a run begins. */
  readonly #olds: ReadonlySet<Name>;
  #hooks: Hooks | undefined;
  #operations = 0;

  constructor(
    readonly stack: number,
    readonly state: ModelState,
    runOf: (door: Door) => Run,
    readonly door: Door,
  ) {
    this.#olds = new Set(state.entries.keys());
    for (const each of ["dynamic", "plugin"] as const)
      for (const definition of resources)
        this.#lifecycles.set(
          `${each} ${definition.kind}`,
          lifecycleThrough(each, definition, runOf(each)),
        );
  }

  /** @param isPreview whether nothing is to be written */
  async up(step: EngineUp, isPreview = false): Promise<void> {
    this.#hooks = step.hooks;
    const { program, first = [] } = step;
    const order = setUpOrder(resources);
    const place = ({ name }: ModelResource): number =>
      2 * rank(order, name) + (first.includes(name) ? 0 : 1);
    const inOrder = [...program].sort((a, b) => place(a) - place(b));
    const kept = new Set<Name>();
    for (const declared of inOrder) {
      const { name } = declared;
      const former = this.#formerOf(name, step);
      const old = this.state.entries.get(former);
      for (const each of [name, former]) kept.add(each);
      if (!isTargeted(step, name)) {
        const { door } = partsOf(former);
        const isServed = program.some((each) => partsOf(each.name).door === door);
        if (old && !isServed) throw new Error(`the provider of ${former} is not registered`);
        continue;
      }
      await this.#settle(declared, old, step, isPreview);
      if (isPreview) continue;
      if (former !== name && !renameIn(this.state, former, name)) this.state.entries.delete(former);
      const { protect = false, retainOnDelete = false } = declared;
      Object.assign(this.state.entries.get(name) ?? {}, { protect, retainOnDelete });
    }
    const unknown = step.only?.names.find((name) => !kept.has(name) && !this.#olds.has(name));
    if (step.only?.option === "target" && unknown) throw new Error(`${unknown} is no target`);
    const gone = [...this.state.entries.keys()].filter((name) => !kept.has(name));
    const isTouched = (name: Name): boolean => isTargeted(step, name);
    await this.#clean(
      gone.filter(isTouched),
      this.state.pending.filter(({ name }) => isTouched(name)),
      isPreview,
    );
    if (isPreview || step.only) return;
    // A program without resources registers no ownership, so the engine deletes it, last of all.
    const isOn = (door: Door): boolean => program.some(({ name }) => this.#doorOf(name) === door);
    const [, stack] = this.state.ownership.split("/");
    if (!isOn(this.door)) {
      this.state.former.push(this.state.ownership);
      this.state.ownership = newOwnership(stack);
    }
    if (!isOn("plugin")) this.state.pluginOwnership = newOwnership(stack);
  }

  /** The name of a resource in the state: its own, or else the first of its aliases that is there. */
  #formerOf(name: Name, { aliases }: EngineUp): Name {
    const olds = this.#olds;
    if (this.#aliased.has(name)) throw new Error(`${name} stands for another resource already`);
    this.#seen.add(name);
    const former = olds.has(name) ? name : aliases?.[name]?.find((each) => olds.has(each));
    if (former === undefined || former === name) return name;
    if (this.#seen.has(former) || this.#aliased.has(former))
      throw new Error(`${former} stands for another resource already`);
    this.#aliased.add(former);
    return former;
  }

  #doorOf = (name: Name): Door => partsOf(name).door ?? this.door;

  async refresh(): Promise<void> {
    for (const [name, entry] of [...this.state.entries]) {
      if (entry.gone) continue;
      const { id, props, inputs } = await this.#of(entry).read(entry.id, entry.outputs);
      if (id === "") {
        this.state.entries.delete(name);
        continue;
      }
      Object.assign(entry, {
        outputs: handedBack(props),
        inputs: handedBack(inputs),
        incomplete: false,
      });
      await this.#of(entry).diff(entry.id, entry.outputs, entry.inputs);
    }
  }

  #of({ name }: Pick<StateEntry, "name">): DoorLifecycle {
    const found = this.#lifecycles.get(`${this.#doorOf(name)} ${modelResources[name].kind}`);
    if (!found) throw new Error(name);
    return found;
  }

  #given(declared: ModelResource, { adopts, eraseHidden, ids }: EngineUp): Json {
    const { name } = declared;
    const { kind } = modelResources[name];
    const { parents, logical } = partsOf(name);
    const { ownership, pluginOwnership } = this.state;
    const isOther = this.#doorOf(name) !== this.door;
    const owner = ownerOf(isOther ? pluginOwnership : ownership, parents, logical);
    const idOf = (of: Name): string => ids?.get(of) ?? this.state.entries.get(of)?.id ?? "";
    const inputs = declaredInputs(this.stack, declared, idOf);
    const automatic = autoName({ kind, owner, name: logical });
    const adopt = adopts?.get(name);
    return {
      ...(kind === "Authentication" && !inputs.name
        ? { name: automatic, autoName: automatic }
        : {}),
      ...inputs,
      ...(adopt === undefined ? {} : { adopt }),
      ...(eraseHidden ? { eraseHidden } : {}),
      owner,
      __provider: "pointer",
    };
  }

  async #settle(
    declared: ModelResource,
    old: StateEntry | undefined,
    step: EngineUp,
    isPreview: boolean,
  ): Promise<void> {
    const { name } = declared;
    const given = this.#given(declared, step);
    const isForced = step.force.includes(name);
    if (!old || old.gone || isForced) {
      if (isForced && old?.protect) throw new Error(`${name} is protected`);
      const made = await this.#checked(name, {}, given);
      if (isPreview) return;
      if (old && isForced && !old.gone) return this.#replace(name, old, made, step.deleteFirst);
      return this.#create(name, made);
    }
    const life = this.#of(declared);
    const { owner, autoName } = given;
    const news = declared.ignoresAll ? { ...old.inputs, owner, autoName } : given;
    const inputs = await this.#checked(name, old.inputs, news);
    const { changes } = await life.diff(old.id, old.outputs, inputs, old.inputs);
    if (isPreview) return;
    const isSame =
      changes === false ||
      (changes === undefined && JSON.stringify(inputs) === JSON.stringify(old.inputs));
    old.refers = modelResources[name].refers;
    if (isSame && !old.incomplete) {
      old.inputs = inputs;
      return;
    }
    await this.#hooked(async () => {
      const { outs } = await this.#repeated(() => life.update(old.id, old.outputs, inputs));
      Object.assign(old, { inputs, outputs: handedBack(outs), incomplete: false });
    });
  }

  /** An operation between its hooks; what it did is saved, also where the hook after it fails. */
  async #hooked(operation: () => Promise<void>): Promise<void> {
    const { broken } = this.#hooks ?? {};
    const isBroken = broken?.operation === this.#operations;
    this.#operations += 1;
    if (isBroken && broken.when === "before") throw new Error("the hook before it failed");
    await operation();
    if (isBroken) throw new Error("the hook after it failed");
  }

  /** An operation, and again for as long as the `onError` hook asks for it. */
  async #repeated<T>(operation: () => Promise<T>): Promise<T> {
    for (let left = this.#hooks?.repeats ?? 0; ; left -= 1) {
      try {
        return await operation();
      } catch (error) {
        if (left === 0) throw error;
      }
    }
  }

  async #checked(name: Name, olds: Json, news: Json): Promise<Json> {
    const { inputs, failures } = await this.#of({ name }).check(olds, news);
    if (failures.length > 0) throw new Error(failures.map(({ reason }) => reason).join());
    return handedBack(inputs);
  }

  async #create(name: Name, inputs: Json): Promise<void> {
    const life = this.#of({ name });
    const save = (id: string, outputs: Json, incomplete: boolean): void => {
      const { kind, refers } = modelResources[name];
      this.state.entries.set(name, { name, kind, id, inputs, outputs, incomplete, refers });
    };
    let partial: { readonly id: string; readonly outputs: Json } | undefined;
    const attempt = async (): Promise<void> => {
      const goesOn = this.#hooks?.incomplete === "update" ? partial : undefined;
      if (!goesOn) partial = undefined;
      try {
        const { id, outs } = goesOn
          ? { id: goesOn.id, ...(await life.update(goesOn.id, goesOn.outputs, inputs)) }
          : await life.create(inputs);
        save(id, handedBack(outs), false);
      } catch (error) {
        const { id, properties } = error as { id?: string; properties?: Json };
        if (id) partial = { id, outputs: handedBack(properties) };
        throw error;
      }
    };
    await this.#hooked(async () => {
      try {
        await this.#repeated(attempt);
      } catch (error) {
        if (partial) save(partial.id, partial.outputs, true);
        throw error;
      }
    });
  }

  async #replace(name: Name, old: StateEntry, inputs: Json, deleteFirst: boolean): Promise<void> {
    if (deleteFirst) {
      await this.#hooked(async () => {
        await this.#delete(old);
        old.gone = true;
      });
      return this.#create(name, inputs);
    }
    await this.#create(name, inputs);
    this.state.pending.push({ ...old });
  }

  async #delete(entry: StateEntry): Promise<void> {
    if (entry.retainOnDelete) return;
    await this.#repeated(() => this.#of(entry).delete(entry.id, entry.outputs));
  }

  /** Deletions come last, those of replaced objects among them. */
  async #clean(
    names: readonly Name[],
    pending: readonly StateEntry[],
    isPreview: boolean,
  ): Promise<void> {
    const leaving = names.flatMap((name) => {
      const entry = this.state.entries.get(name);
      return entry ? [{ entry, forget: () => void this.state.entries.delete(name) }] : [];
    });
    const replaced = pending.map((entry) => ({
      entry,
      forget: () => void this.state.pending.splice(this.state.pending.indexOf(entry), 1),
    }));
    const all = [...replaced, ...leaving];
    const kept = leaving.find(({ entry }) => entry.protect);
    if (kept) throw new Error(`${kept.entry.name} is protected`);
    if (isPreview) return;
    const condemned = new Set(all.map(({ entry }) => entry.name));
    const level = levels(new Map(all.map(({ entry }) => [entry.name, entry])), condemned);
    all.sort((a, b) => level(b.entry.name) - level(a.entry.name));
    const remove = async ({ entry, forget }: (typeof all)[number]): Promise<void> => {
      if (entry.gone) return forget();
      await this.#hooked(async () => {
        await this.#delete(entry);
        forget();
      });
    };
    if (this.state.isEdited) return together(all.map((each) => () => remove(each)));
    for (const each of all) await remove(each);
  }
}

const isTargeted = ({ only }: EngineUp, name: Name): boolean =>
  only === undefined || only.names.includes(name) === (only.option === "target");

/** What the engine knows no order between any more it deletes at the same time. */
const together = async (work: readonly (() => Promise<void>)[]): Promise<void> => {
  const ends = await Promise.allSettled(work.map((each) => each()));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
};

/**
 * The engine deletes in levels, counted from what depends on nothing else that goes; within one the
 * order is any.
 */
const levels = (entries: ReadonlyMap<Name, StateEntry>, condemned: ReadonlySet<Name>) => {
  const level = (name: Name): number =>
    Math.max(
      0,
      ...(entries.get(name)?.refers ?? [])
        .filter((other) => condemned.has(other))
        .map((other) => 1 + level(other)),
    );
  return level;
};
