import { type Lifecycle, lifecycle } from "../../../provider/lifecycle/index.js";
import type { Run } from "../../../provider/lifecycle/run.js";
import { resources } from "../../../provider/resources/index.js";
import type { Declared } from "./program.js";

type Json = Record<string, unknown>;

/** A resource in the state. */
interface Kept {
  readonly id: string;
  readonly outs: Json;
}

/** Lets so many jobs run together; the others wait in order of arrival. */
const slots = (parallel: number) => {
  let free = parallel;
  const waiting: (() => void)[] = [];
  return async <T>(job: () => Promise<T>): Promise<T> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((go) => waiting.push(go));
    try {
      return await job();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
};

const lifecycleOf = (kind: string, run: Run): Lifecycle => {
  const definition = resources.find((each) => each.kind === kind);
  if (!definition) throw new Error(`no kind ${kind}`);
  return lifecycle(definition, run);
};

/** What Pulumi's engine does with a program, by the real life cycle: order, slots, levels. */
export class SmallEngine {
  readonly state = new Map<string, Kept>();
  readonly #program: readonly Declared[];
  readonly #parallel: number;

  constructor(program: readonly Declared[], parallel: number) {
    this.#program = program;
    this.#parallel = parallel;
  }

  /** Makes or changes every resource, after what it depends on. */
  async up(run: Run, description: string): Promise<void> {
    const slot = slots(this.#parallel);
    const ended = new Map<string, Promise<void>>();
    for (const each of this.#program) {
      const before = Promise.all(each.after.map((name) => ended.get(name)));
      ended.set(
        each.name,
        before.then(() => slot(() => this.#write(run, each, description))),
      );
    }
    await Promise.all(ended.values());
  }

  /** Deletes everything in levels. */
  async destroy(run: Run): Promise<void> {
    for (const level of this.#levels()) {
      const slot = slots(this.#parallel);
      await Promise.all(level.map((each) => slot(() => this.#delete(run, each))));
    }
  }

  async refresh(run: Run): Promise<void> {
    const slot = slots(this.#parallel);
    await Promise.all(
      this.#program.map((each) =>
        slot(async () => {
          const kept = this.#kept(each);
          await lifecycleOf(each.kind, run).read(kept.id, kept.outs);
        }),
      ),
    );
  }

  #kept({ name }: Declared): Kept {
    const kept = this.state.get(name);
    if (!kept) throw new Error(`${name} is not in the state`);
    return kept;
  }

  async #write(run: Run, each: Declared, description: string): Promise<void> {
    const inputs: Json = {
      ...each.inputs((name) => this.state.get(name)?.id ?? ""),
      description,
      owner: `shop/prod/0123456789abcdef/${each.name}`,
      __provider: "pointer",
    };
    const kept = this.state.get(each.name);
    const calls = lifecycleOf(each.kind, run);
    if (kept) {
      const { outs } = await calls.update(kept.id, kept.outs, inputs);
      this.state.set(each.name, { id: kept.id, outs: { ...outs } });
    } else {
      const { id, outs } = await calls.create(inputs);
      this.state.set(each.name, { id, outs: { ...outs } });
    }
  }

  async #delete(run: Run, each: Declared): Promise<void> {
    const kept = this.#kept(each);
    await lifecycleOf(each.kind, run).delete(kept.id, kept.outs);
    this.state.delete(each.name);
  }

  /** From what nothing depends on any more in the deepest level up; each ends before the next. */
  #levels(): readonly (readonly Declared[])[] {
    const depthOf = ({ after }: Declared): number =>
      this.#program
        .filter(({ name }) => after.includes(name))
        .reduce((most, other) => Math.max(most, depthOf(other) + 1), 0);
    const levels: Declared[][] = [];
    for (const each of this.#program) {
      const depth = depthOf(each);
      levels[depth] = [...(levels[depth] ?? []), each];
    }
    return levels.reverse();
  }
}
