import { randomUUID } from "node:crypto";
import { setUpOrder } from "../../provider/definition/fields.js";
import type { Run } from "../../provider/lifecycle/run.js";
import { resources } from "../../provider/resources/index.js";
import { type Door, type DoorLifecycle, handedBack, lifecycleThrough } from "../support/door.js";
import { type Hooks, type ModelResource, modelResources, type Name } from "./scenario.js";
import type { EngineUp } from "./stacks.js";
import { renameIn } from "./state-edits.js";
import { declaredInputs } from "./values.js";

type Json = Record<string, unknown>;

/** A resource as the state holds it. */
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
}

/** What a stack's state file holds. */
export interface ModelState {
  ownership: string;
  /** Ownerships that went with the last resource of a program. */
  readonly former: string[];
  readonly entries: Map<Name, StateEntry>;
  /** Old objects of replacements that are still to be deleted. */
  readonly pending: StateEntry[];
  /** A person edited the state, and dependencies were lost. */
  isEdited?: boolean;
}

const newOwnership = (): string => `shop/prod/${randomUUID()}`;

export const newState = (): ModelState => ({
  ownership: newOwnership(),
  former: [],
  entries: new Map(),
  pending: [],
});

const rank = (order: readonly { kind: string }[], name: Name): number =>
  order.findIndex(({ kind }) => kind === modelResources[name].kind);

/** The engine's half of a life cycle, as it was seen to behave; state is saved after every step. */
export class Engine {
  readonly #lifecycles = new Map<string, DoorLifecycle>();
  #hooks: Hooks | undefined;
  /** Operations of this run so far. */
  #operations = 0;

  constructor(
    readonly stack: number,
    readonly state: ModelState,
    run: Run,
    door: Door,
  ) {
    for (const definition of resources)
      this.#lifecycles.set(definition.kind, lifecycleThrough(door, definition, run));
  }

  async up(step: EngineUp): Promise<void> {
    this.#hooks = step.hooks;
    const { program, force, deleteFirst, first = [], aliases = new Map<Name, Name>() } = step;
    const order = setUpOrder(resources);
    const place = ({ name }: ModelResource): number =>
      2 * rank(order, name) + (first.includes(name) ? 0 : 1);
    const inOrder = [...program].sort((a, b) => place(a) - place(b));
    for (const [now, former] of aliases) renameIn(this.state, former, now);
    for (const declared of inOrder)
      await this.#settle(declared, force.includes(declared.name), deleteFirst, step);
    const kept = new Set(program.map(({ name }) => name));
    await this.#clean([...this.state.entries.keys()].filter((name) => !kept.has(name)));
    if (program.length > 0) return;
    // A program without resources registers no ownership, so the engine deletes it, last of all.
    this.state.former.push(this.state.ownership);
    this.state.ownership = newOwnership();
  }

  async refresh(): Promise<void> {
    for (const [name, entry] of [...this.state.entries]) {
      if (entry.gone) continue;
      const { id, props, inputs } = await this.#of(entry.kind).read(entry.id, entry.outputs);
      if (id === "") {
        this.state.entries.delete(name);
        continue;
      }
      Object.assign(entry, {
        outputs: handedBack(props),
        inputs: handedBack(inputs),
        incomplete: false,
      });
      await this.#of(entry.kind).diff(entry.id, entry.outputs, entry.inputs);
    }
  }

  #of(kind: string): DoorLifecycle {
    const found = this.#lifecycles.get(kind);
    if (!found) throw new Error(kind);
    return found;
  }

  #idOf = (name: Name): string => this.state.entries.get(name)?.id ?? "";

  async #settle(
    declared: ModelResource,
    isForced: boolean,
    deleteFirst: boolean,
    { adopts, eraseHidden }: Pick<EngineUp, "adopts" | "eraseHidden">,
  ): Promise<void> {
    const { kind } = modelResources[declared.name];
    const adopt = adopts?.get(declared.name);
    const given = {
      ...declaredInputs(this.stack, declared, this.#idOf),
      ...(adopt === undefined ? {} : { adopt }),
      ...(eraseHidden ? { eraseHidden } : {}),
      owner: `${this.state.ownership}/${declared.name}`,
      __provider: "pointer",
    };
    const old = this.state.entries.get(declared.name);
    if (!old || old.gone)
      return this.#create(declared.name, kind, await this.#checked(kind, {}, given));
    if (isForced) return this.#replace(declared.name, old, given, deleteFirst);
    const inputs = await this.#checked(kind, old.inputs, given);
    const { changes } = await this.#of(kind).diff(old.id, old.outputs, inputs, old.inputs);
    const isSame =
      changes === false ||
      (changes === undefined && JSON.stringify(inputs) === JSON.stringify(old.inputs));
    old.refers = modelResources[declared.name].refers;
    if (isSame && !old.incomplete) {
      old.inputs = inputs;
      return;
    }
    await this.#hooked(async () => {
      const { outs } = await this.#repeated(() =>
        this.#of(kind).update(old.id, old.outputs, inputs),
      );
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

  async #checked(kind: string, olds: Json, news: Json): Promise<Json> {
    const { inputs, failures } = await this.#of(kind).check(olds, news);
    if (failures.length > 0) throw new Error(failures.map(({ reason }) => reason).join());
    return handedBack(inputs);
  }

  async #create(name: Name, kind: string, inputs: Json): Promise<void> {
    const save = (id: string, outputs: Json, incomplete: boolean): void => {
      const { refers } = modelResources[name];
      this.state.entries.set(name, { name, kind, id, inputs, outputs, incomplete, refers });
    };
    let partial: { readonly id: string; readonly outputs: Json } | undefined;
    const attempt = async (): Promise<void> => {
      const goesOn = this.#hooks?.incomplete === "update" ? partial : undefined;
      if (!goesOn) partial = undefined;
      try {
        const { id, outs } = goesOn
          ? { id: goesOn.id, ...(await this.#of(kind).update(goesOn.id, goesOn.outputs, inputs)) }
          : await this.#of(kind).create(inputs);
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

  async #replace(name: Name, old: StateEntry, given: Json, deleteFirst: boolean): Promise<void> {
    const inputs = await this.#checked(old.kind, {}, given);
    if (deleteFirst) {
      await this.#hooked(async () => {
        await this.#repeated(() => this.#of(old.kind).delete(old.id, old.outputs));
        old.gone = true;
      });
      return this.#create(name, old.kind, inputs);
    }
    await this.#create(name, old.kind, inputs);
    this.state.pending.push({ ...old });
  }

  /** Deletions come last, those of replaced objects among them. */
  async #clean(names: readonly Name[]): Promise<void> {
    const leaving = names.flatMap((name) => {
      const entry = this.state.entries.get(name);
      return entry ? [{ entry, forget: () => void this.state.entries.delete(name) }] : [];
    });
    const replaced = this.state.pending.map((entry) => ({
      entry,
      forget: () => void this.state.pending.splice(this.state.pending.indexOf(entry), 1),
    }));
    const all = [...replaced, ...leaving];
    const condemned = new Set(all.map(({ entry }) => entry.name));
    const level = levels(new Map(all.map(({ entry }) => [entry.name, entry])), condemned);
    all.sort((a, b) => level(b.entry.name) - level(a.entry.name));
    const remove = async ({ entry, forget }: (typeof all)[number]): Promise<void> => {
      if (entry.gone) return forget();
      await this.#hooked(async () => {
        await this.#repeated(() => this.#of(entry.kind).delete(entry.id, entry.outputs));
        forget();
      });
    };
    if (this.state.isEdited) return together(all.map((each) => () => remove(each)));
    for (const each of all) await remove(each);
  }
}

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
